// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of imported recordings. They tell how many draft tokens were accepted, some how many there were, and
// nothing of the layers that drafted: what a file lacks is taken from the question, and said.
#include <draftscope/simulator/replay/acceptance_models.h>
#include <draftscope/simulator/replay/policy_choice.h>
#include <draftscope/simulator/what_if/recorded_statistics.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fitted_acceptance.h"

namespace draftscope::simulator {

namespace {

using traces::MissingData;

bool is_early_exit(std::string_view specification) {
  return specification.substr(0, specification.find(':')) == "layerskip";
}

bool drafts_without_model(std::string_view specification) {
  return specification.substr(0, specification.find(':')) == "prompt-lookup";
}

/// What "layerskip:exit=8,gamma=6" plans; absent where the exit is not stated.
std::optional<PlannedRound> stated_plan(std::string_view specification, std::int32_t n_layers) {
  if (!is_early_exit(specification) || specification.find("exit=") == std::string_view::npos)
    return std::nullopt;
  const auto choice = policy_of_specification(specification, ReplayModel{.n_layers = n_layers});
  if (!choice || choice->policy == nullptr) return std::nullopt;
  PlannedRound plan;
  choice->policy->plan({}, plan);
  return plan;
}

/// "acceptance_rate" of a whole run, where the file states it.
std::optional<double> stated_rate(const traces::Meta& meta, const std::string& specification) {
  const auto text = meta.find("stated_figures");
  if (text == meta.end()) return std::nullopt;
  const auto json = nlohmann::json::parse(text->second, nullptr, false);
  if (!json.is_object() || !json.contains(specification)) return std::nullopt;
  const auto& figures = json[specification];
  if (!figures.is_object() || !figures.contains("acceptance_rate")) return std::nullopt;
  const auto& rate = figures["acceptance_rate"];
  return rate.is_number() ? std::optional(rate.get<double>()) : std::nullopt;
}

std::string lacks_note(const traces::Meta& meta) {
  std::string names;
  for (const MissingData missing : traces::missing_data_of(meta))
    names += (names.empty() ? "" : ", ") + std::string(traces::missing_data_name(missing));
  return fmt::format("imported without {}: prices are specifications'", names);
}

constexpr std::string_view empty_prompts_note =
    "contexts begin behind an empty prompt (--longer-context adds to them)";

VerifiedLayers verified_layers(std::string_view specification) {
  return specification.find("verify=above-exit") != std::string_view::npos ? VerifiedLayers::above_exit
                                                                           : VerifiedLayers::all;
}

std::int64_t emitted_tokens(const RequestRows& rows) {
  std::int64_t tokens = 0;
  for (const traces::Round& round : rows.rounds) tokens += round.emitted;
  return tokens;
}

/// Of a run with rounds, or of one whose file states a rate alone.
std::optional<AcceptanceModel> acceptance_of(const RunRows& run, const traces::Meta& meta,
                                             std::int32_t n_layers) {
  if (!run.requests.empty()) {
    const RunRows first = first_repeat(run);
    return fit_markov_acceptance(traces::is_missing(meta, MissingData::draft_lengths)
                                     ? acceptance_bits_of_lengths(first)
                                     : acceptance_bits(first));
  }
  const auto rate = stated_rate(meta, run.run->specification);
  const auto plan = stated_plan(run.run->specification, n_layers);
  return rate && plan ? iid_acceptance_of_rate(*rate, plan->length) : std::nullopt;
}

}  // namespace

Result<StrategyRounds> WhatIf::imported_rounds(const RunRows& run) const {
  const std::string& strategy = run.run->specification;
  if (run.run->is_baseline && !run.requests.empty()) return recorded_rounds(run);
  const auto plan = stated_plan(strategy, costs_.model.shape.n_layers);
  const bool is_guess = drafts_without_model(strategy);
  if (!plan && !is_guess)
    return fail(
        "run {}: which layers drafted is not in the imported file; ask with --strategy "
        "layerskip:exit=E,gamma=G to price its acceptance as an early exit's",
        strategy);
  const bool knows_lengths = !traces::is_missing(recording_->meta, MissingData::draft_lengths);
  if (plan && (run.requests.empty() || !knows_lengths)) return rounds_of_import(strategy);
  if (!knows_lengths)
    return fail(
        "run {}: how many tokens were guessed is not in the imported file; import it with "
        "--draft-length",
        strategy);
  StrategyRounds rounds{.strategy = strategy,
                        .source = RoundSource::recorded,
                        .verified_layers = verified_layers(strategy),
                        .notes = {lacks_note(recording_->meta), std::string(empty_prompts_note)}};
  if (is_guess) rounds.drafts.push_back({});
  for (const RequestRows& rows : first_repeat(run).requests) {
    RoundStatistics& statistics = rounds.setting.least.emplace_back();
    for (const traces::Round& round : rows.rounds)
      add_round(statistics, plan ? plan->exit : 1, round.root_position, {round.drafted, round.accepted},
                round.emitted);
    for (DraftStatistics& draft : statistics.drafts)
      if (is_guess) draft.steps = {};
    rounds.vanilla.push_back(vanilla_steps(emitted_tokens(rows), rows.rounds.front().root_position));
    rounds.categories.push_back(rows.prompt->category);
  }
  return rounds;
}

Result<StrategyRounds> WhatIf::rounds_of_import(std::string_view strategy) const {
  const std::int32_t n_layers = costs_.model.shape.n_layers;
  if (!is_early_exit(strategy))
    return fail(
        "strategy {}: an imported file has no token ids and no predictions of layers, expected "
        "layerskip:exit=E,gamma=G, which can be modelled from its acceptance",
        strategy);
  DRAFTSCOPE_TRY_ASSIGN(const PolicyChoice choice,
                        policy_of_specification(strategy, ReplayModel{.n_layers = n_layers}));
  PlannedRound plan;
  choice.policy->plan({}, plan);

  const auto acceptance = [&](const RunRows& run) -> const std::optional<AcceptanceModel>& {
    return fitted_acceptance_->of(run.run->id,
                                  [&] { return acceptance_of(run, recording_->meta, n_layers); });
  };
  // A run of that exit, else one that does not say what drafted.
  const RunRows* source = nullptr;
  bool is_stated = false;
  for (const RunRows& run : runs_) {
    if (run.run->is_baseline || drafts_without_model(run.run->specification)) continue;
    const auto of_run = stated_plan(run.run->specification, n_layers);
    const bool is_same = of_run && of_run->exit == plan.exit;
    if ((of_run && !is_same) || (source != nullptr && (is_stated || !is_same))) continue;
    if (!acceptance(run)) continue;
    source = &run;
    is_stated = is_same;
  }
  if (source == nullptr)
    return fail("strategy {}: found no imported run whose acceptance could be exit {}'s", strategy,
                plan.exit);
  const AcceptanceModel& model = *acceptance(*source);
  const std::string& name = source->run->specification;

  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::modelled,
                        .verified_layers = verified_layers(strategy)};
  rounds.setting.status = AnswerStatus::approximate;
  const auto add = [&](std::int64_t tokens, std::int64_t context, const std::string& category) {
    rounds.vanilla.push_back(vanilla_steps(tokens, context));
    rounds.setting.least.push_back(expected_statistics(
        model, {.exit = plan.exit, .length = plan.length, .tokens = tokens, .first_context = context}));
    rounds.categories.push_back(category);
  };
  for (const RequestRows& rows : first_repeat(*source).requests)
    add(emitted_tokens(rows), rows.rounds.front().root_position, rows.prompt->category);
  if (source->requests.empty()) {
    constexpr std::int64_t typical_tokens = 512;
    add(typical_tokens, typical_tokens, "");
    rounds.notes.push_back(fmt::format(
        "acceptance is independent from token to token at the rate that run {} states, of one text of {} "
        "tokens behind as many",
        name, typical_tokens));
  } else {
    rounds.notes.push_back(fmt::format("acceptance is modelled (two hidden states) from run {}", name));
    rounds.notes.emplace_back(empty_prompts_note);
    if (traces::is_missing(recording_->meta, MissingData::draft_lengths))
      rounds.notes.push_back(
          fmt::format("run {} has accepted lengths alone: its longest is taken for every draft's", name));
  }
  if (!is_stated)
    rounds.notes.push_back(fmt::format(
        "run {} does not say which layers drafted: its acceptance is taken for exit {}'s", name, plan.exit));
  rounds.notes.push_back(lacks_note(recording_->meta));
  return rounds;
}

}  // namespace draftscope::simulator
