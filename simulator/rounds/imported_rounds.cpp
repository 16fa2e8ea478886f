// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of imported recordings. They give the number of accepted draft tokens, some the number of draft
// tokens, and no layers that drafted. Missing data is taken from the question, and a note says so.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/missing_data.h>
#include <draftscope/traces/text_share.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/figures/stated_figures.h"
#include "analysis/run_specification.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/redraft.h"
#include "rounds/replay/acceptance_models.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

using traces::MissingData;

bool is_early_exit(std::string_view specification) {
  return speculation::strategy_row(speculation::strategy_name(specification)).is_plain_exit;
}

/// Plan of "layerskip:exit=8,gamma=6"; absent where the exit is not stated.
std::optional<PlannedRound> stated_plan(std::string_view specification, std::int32_t n_layers) {
  if (!is_early_exit(specification) || specification.find("exit=") == std::string_view::npos)
    return std::nullopt;
  const auto choice = policy_of_specification(specification, ReplayModel{.n_layers = n_layers});
  if (!choice || choice->policy == nullptr) return std::nullopt;
  PlannedRound plan;
  choice->policy->plan({}, plan);
  return plan;
}

/// A number that the file states of a whole run, such as "acceptance_rate"; absent if it states none.
std::optional<double> stated_number(const traces::Meta& meta, const std::string& specification,
                                    const std::string& name) {
  const nlohmann::json figures = stated_figures(meta_object(meta, "stated_figures"), specification);
  const auto number = figures.find(name);
  return number != figures.end() && number->is_number() ? std::optional(number->get<double>()) : std::nullopt;
}

std::string lacks_note(const traces::Meta& meta) {
  std::string names;
  for (const MissingData missing : traces::missing_data_of(meta))
    names += (names.empty() ? "" : ", ") + std::string(traces::missing_data_name(missing));
  return fmt::format("imported without {}: prices are specifications'", names);
}

constexpr std::string_view empty_prompts_note =
    "contexts begin after an empty prompt (--longer-context adds to them)";

/// Acceptance of a run without rounds whose file only states a rate.
std::optional<AcceptanceModel> stated_acceptance(const RunRows& run, const traces::Meta& meta,
                                                 std::int32_t n_layers) {
  const auto rate = stated_number(meta, run.run->specification, "acceptance_rate");
  const auto plan = stated_plan(run.run->specification, n_layers);
  return rate && plan ? iid_acceptance_of_rate(*rate, plan->length) : std::nullopt;
}

/// Positions of an imported run. Where only accepted lengths are known, the maximum length of the run is
/// assumed for every draft, so that shorter ones ended with a rejection.
std::vector<DraftedPositions> positions_of_import(const traces::Recording& recording, const RunRows& run) {
  std::optional<std::int32_t> longest;
  if (traces::is_missing(recording.meta, MissingData::draft_lengths)) {
    longest = 0;
    for (const RequestRows& rows : run.requests)
      for (const traces::Round& round : rows.rounds) longest = std::max(*longest, round.accepted);
  }
  std::vector<DraftedPositions> positions;
  positions.reserve(run.requests.size());
  for (const RequestRows& rows : run.requests)
    positions.push_back(drafted_positions(recording, rows, longest));
  return positions;
}

Result<DraftedTexts> imported_texts(const TrainedRecording& trained, const RunRows& run) {
  RunRows first = first_repeat(run);
  const auto positions = positions_of_import(*trained.recording, first);
  return drafted_texts(trained, std::move(first), positions);
}

bool has_acceptance(const TrainedRecording& trained, const RunRows& run) {
  return has_rounds(run) ? imported_texts(trained, run).has_value()
                         : stated_acceptance(run, trained.recording->meta, trained.n_layers()).has_value();
}

/// A run whose acceptance is used for that of an exit.
struct AcceptanceSource {
  const RunRows* run = nullptr;
  bool is_stated = false;  ///< Whether it says that this exit drafted.
};

/// A run of that exit, else one that does not say what drafted. If there is none, `run` is null.
AcceptanceSource acceptance_source(const TrainedRecording& trained, std::int32_t exit) {
  AcceptanceSource source;
  for (const RunRows& run : trained.runs) {
    if (run.run->is_baseline || follows_from_texts(run.run->specification)) continue;
    const auto plan = stated_plan(run.run->specification, trained.n_layers());
    const bool is_same = plan && plan->exit == exit;
    if ((plan && !is_same) || (source.run != nullptr && (source.is_stated || !is_same))) continue;
    if (!has_acceptance(trained, run)) continue;
    source = {&run, is_same};
  }
  return source;
}

constexpr std::int64_t typical_tokens =
    512;  // Tokens of a text where the file has none, and of the context before it.

/// Adds rounds of one text of typical length, where the file only states a rate. It may state the number of
/// draft tokens; else the rate counts as that one text's.
void add_stated(const TrainedRecording& trained, const RunRows& run, const PlannedRound& plan,
                StrategyRounds& rounds) {
  const traces::Meta& meta = trained.recording->meta;
  const AcceptanceModel model = *stated_acceptance(run, meta, trained.n_layers());
  rounds.vanilla.push_back(vanilla_steps(typical_tokens, typical_tokens));
  rounds.setting.min_drafted.push_back(expected_statistics(
      model,
      {.exit = plan.exit, .length = plan.length, .tokens = typical_tokens, .first_context = typical_tokens}));
  rounds.categories.emplace_back();
  const auto drafted = stated_number(meta, run.run->specification, "drafted");
  const auto stated = stated_plan(run.run->specification, trained.n_layers());
  rounds.stated_rounds = drafted && *drafted > 0.0
                             ? std::max(*drafted / stated->length, 1.0)
                             : static_cast<double>(rounds.setting.min_drafted.back().rounds);
}

/// Conditions without limits: only its texts end the drafts of the file.
ReplayConditions unlimited() {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max() / 2;
  return {.max_new_tokens = most, .context_rows = most};
}

/// Replays the early exit on the results of the run's drafts. Returns the share of rounds that depend on
/// randomly drawn positions.
Result<double> add_replayed(const TrainedRecording& trained, const RunRows& run, std::string_view strategy,
                            std::int32_t exit, StrategyRounds& rounds) {
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, chain_policy(specification, drafted_layer));
  DRAFTSCOPE_TRY_ASSIGN(const DraftedTexts texts, imported_texts(trained, run));
  DRAFTSCOPE_TRY(expect_replayable(texts, specification));
  double drawn = 0.0;
  double all = 0.0;
  for (std::size_t i = 0; i < texts.tables.size(); ++i) {
    const RequestRows& rows = texts.run.requests[i];
    std::vector<ReplayedRound> replayed = replay_rounds(texts.tables[i].table, *policy, unlimited());
    for (ReplayedRound& round : replayed) {
      drawn += has_drawn(texts.tables[i], round) ? 1.0 : 0.0;
      all += 1.0;
      round.plan.exit = exit;
    }
    rounds.setting.min_drafted.push_back(totals(replayed).least);
    rounds.vanilla.push_back(vanilla_steps(emitted_tokens(rows), rows.rounds.front().root_position));
    rounds.categories.push_back(rows.prompt->category);
  }
  return all > 0.0 ? drawn / all : 0.0;
}

void add_notes(const AcceptanceSource& source, std::int32_t exit, double drawn, const traces::Meta& meta,
               StrategyRounds& rounds) {
  const std::string& name = source.run->run->specification;
  if (!has_rounds(*source.run)) {
    rounds.notes.push_back(fmt::format(
        "acceptance is independent from token to token at the rate that run {} states, of one text of {} "
        "tokens after as many",
        name, typical_tokens));
  } else {
    rounds.notes.push_back(
        fmt::format("rounds follow from what run {} accepted; {:.0f} % of them go by positions that were not "
                    "drafted, drawn "
                    "from a model of acceptance (two hidden states)",
                    name, 100.0 * drawn));
    rounds.notes.emplace_back(empty_prompts_note);
    if (traces::is_missing(meta, MissingData::draft_lengths))
      rounds.notes.push_back(
          fmt::format("run {} has accepted lengths alone: its longest is taken for every draft's", name));
  }
  if (!source.is_stated)
    rounds.notes.push_back(fmt::format(
        "run {} does not say which layers drafted: its acceptance is taken for exit {}'s", name, exit));
  rounds.notes.push_back(lacks_note(meta));
}

}  // namespace

Result<StrategyRounds> imported_rounds(const TrainedRecording& trained, const RunRows& run) {
  const traces::Meta& meta = trained.recording->meta;
  const std::string& strategy = run.run->specification;
  if (run.run->is_baseline && !run.requests.empty()) return recorded_rounds(trained, run);
  const auto plan = stated_plan(strategy, trained.n_layers());
  const bool is_guess = follows_from_texts(strategy);
  if (!plan && !is_guess)
    return fail(
        "run {}: the imported file does not say which layers drafted, expected --strategy "
        "layerskip:exit=E,gamma=G to price its acceptance as an early exit's",
        strategy);
  const bool knows_lengths = !traces::is_missing(meta, MissingData::draft_lengths);
  if (plan && (!has_rounds(run) || !knows_lengths)) return modelled_import(trained, strategy);
  if (!knows_lengths)
    return fail(
        "run {}: the imported file does not say how many tokens were guessed, expected an import with "
        "--draft-length",
        strategy);
  StrategyRounds rounds{.strategy = strategy,
                        .source = RoundSource::recorded,
                        .verified_layers = specified_verified_layers(strategy),
                        .notes = {lacks_note(meta), std::string(empty_prompts_note)}};
  if (is_guess) rounds.drafts.push_back({});
  for (const RequestRows& rows : first_repeat(run).requests) {
    RoundStatistics& statistics = rounds.setting.min_drafted.emplace_back();
    for (const traces::Round& round : rows.rounds)
      add_round(statistics, plan ? plan->exit : 1, round.root_position,
                {.drafted = round.drafted,
                 .accepted =
                     static_cast<std::int32_t>(traces::tokens_of(round).accepted_in_text(rows.request->stop)),
                 .siblings = round.drafted - round.tree_depth},
                round.emitted);
    for (DraftStatistics& draft : statistics.drafts)
      if (is_guess) draft.steps = {};
    rounds.vanilla.push_back(vanilla_steps(emitted_tokens(rows), rows.rounds.front().root_position));
    rounds.categories.push_back(rows.prompt->category);
  }
  return rounds;
}

Result<StrategyRounds> modelled_import(const TrainedRecording& trained, std::string_view strategy) {
  if (!is_early_exit(strategy))
    return fail(
        "strategy {}: an imported file has no token ids and no predictions of layers, expected "
        "layerskip:exit=E,gamma=G, which can be modelled from its acceptance",
        strategy);
  DRAFTSCOPE_TRY_ASSIGN(const PolicyChoice choice,
                        policy_of_specification(strategy, ReplayModel{.n_layers = trained.n_layers()}));
  PlannedRound plan;
  choice.policy->plan({}, plan);
  const AcceptanceSource source = acceptance_source(trained, plan.exit);
  if (source.run == nullptr)
    return fail("strategy {}: found no imported run, expected one whose acceptance could be exit {}'s",
                strategy, plan.exit);
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::modelled,
                        .verified_layers = specified_verified_layers(strategy)};
  rounds.setting.status = AnswerStatus::approximate;
  double drawn = 1.0;
  if (!has_rounds(*source.run)) {
    add_stated(trained, *source.run, plan, rounds);
  } else {
    DRAFTSCOPE_TRY_ASSIGN(drawn, add_replayed(trained, *source.run, strategy, plan.exit, rounds));
  }
  add_notes(source, plan.exit, drawn, trained.recording->meta, rounds);
  return rounds;
}

}  // namespace draftscope::simulator
