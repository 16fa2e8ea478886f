// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/replay/acceptance_models.h>
#include <draftscope/simulator/replay/policies.h>
#include <draftscope/simulator/replay/policy_choice.h>
#include <draftscope/simulator/what_if/recorded_statistics.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../costs/verified_layers.h"
#include "fitted_acceptance.h"

namespace draftscope::simulator {

namespace {

bool has_rounds_of_an_exit(const RunRows& run) {
  return run.run->strategy == "layerskip" && !run.requests.empty() && !run.requests.front().rounds.empty();
}

/// Name and parameters, in whatever order they were given.
std::multiset<std::string_view> pieces(std::string_view specification) {
  std::multiset<std::string_view> all;
  while (!specification.empty()) {
    const std::size_t end = std::min(specification.find_first_of(":,"), specification.size());
    all.insert(specification.substr(0, end));
    specification.remove_prefix(std::min(end + 1, specification.size()));
  }
  return all;
}

VerifiedLayers verified_layers(std::string_view specification) {
  return pieces(specification).contains("verify=above-exit") ? VerifiedLayers::above_exit
                                                             : VerifiedLayers::all;
}

/// Of the same text by vanilla decoding, which takes a step to find an end token.
PassCount vanilla_steps_of(const RequestRows& rows, std::int64_t emitted) {
  const bool finds_end = rows.request->stop == traces::RequestStop::eos;
  return vanilla_steps(emitted + (finds_end ? 1 : 0), rows.rounds.front().root_position);
}

}  // namespace

Result<StrategyRounds> WhatIf::rounds(std::string_view strategy) const {
  const bool is_import = traces::is_imported(recording_->meta);
  for (const RunRows& run : runs_)
    if (pieces(run.run->specification) == pieces(strategy))
      return is_import ? imported_rounds(run) : recorded_rounds(run);
  if (is_import) return rounds_of_import(strategy);
  if (strategy.substr(0, strategy.find(':')) == "prompt-lookup") return lookup_rounds(strategy);
  if (tables_.empty()) return modelled_rounds(strategy);
  return replayed_rounds(strategy);
}

double WhatIf::mean_vanilla_step_ns() const {
  std::int64_t ns = 0;
  std::int64_t steps = 0;
  for (const RunRows& run : runs_) {
    if (!run.run->is_baseline) continue;
    for (const RequestRows& request : run.requests)
      for (const traces::Round& round : request.rounds) {
        ns += round.end_ns - round.start_ns;
        ++steps;
      }
  }
  return steps > 0 ? static_cast<double>(ns) / static_cast<double>(steps) : 0.0;
}

double WhatIf::own_ratio(std::int64_t run) const {
  const auto found = std::find_if(measured_runs_.begin(), measured_runs_.end(),
                                  [run](const MeasuredRun& measured) { return measured.run == run; });
  if (found == measured_runs_.end()) return 1.0;
  constexpr double between_runs = 0.05;  // standard deviation that is expected of runs without noise
  const double signal = between_runs * between_runs;
  const double noise = found->relative_error * found->relative_error;
  return std::exp(signal / (signal + noise) * std::log(found->ratio));
}

Result<StrategyRounds> WhatIf::recorded_rounds(const RunRows& run) const {
  const RunRows first = first_repeat(run);
  DRAFTSCOPE_TRY_ASSIGN(RecordedStatistics recorded, recorded_statistics(first, recording_->layer_sets));
  StrategyRounds rounds{.strategy = run.run->specification, .source = RoundSource::recorded};
  for (std::size_t i = 0; i < first.requests.size(); ++i) {
    const RequestRows& rows = first.requests[i];
    rounds.vanilla.push_back(vanilla_steps_of(rows, recorded.requests[i].tokens));
    rounds.categories.push_back(rows.prompt->category);
  }
  rounds.setting = {.status = AnswerStatus::exact, .least = std::move(recorded.requests), .most = {}};
  rounds.drafts = std::move(recorded.drafts);
  rounds.verified_layers = rounds.drafts.empty() ? verified_layers(*run.run) : VerifiedLayers::all;
  rounds.own_ratio = own_ratio(run.run->id);
  constexpr double worth_a_note = 0.005;
  if (std::abs(rounds.own_ratio - 1.0) > worth_a_note)
    rounds.notes.push_back(fmt::format(
        "its passes took {:+.1f} % beside such passes of all runs, which only the recorded machine's "
        "answer has",
        100.0 * (rounds.own_ratio - 1.0)));
  const double step_ns = mean_vanilla_step_ns();
  if (recorded.optimise_ns_per_round > 0.0 && step_ns > 0.0) {
    rounds.optimise_steps_per_round = recorded.optimise_ns_per_round / step_ns;
    rounds.notes.push_back(fmt::format(
        "its own passes and searches took {:.2f} vanilla steps a round, and are taken to anywhere",
        rounds.optimise_steps_per_round));
  }
  return rounds;
}

Result<std::unique_ptr<Policy>> WhatIf::replayed_policy(std::string_view strategy) const {
  const PolicyChoice text = text_choice(*recording_);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(*recording_));
  DRAFTSCOPE_TRY_ASSIGN(PolicyChoice choice, policy_of_specification(strategy, model));
  if (choice.policy == nullptr)
    return fail("strategy {}: {} ({}); record it to ask about it", strategy, choice.reason,
                answer_status_name(choice.status));
  return std::move(choice.policy);
}

Result<StrategyRounds> WhatIf::replayed_rounds(std::string_view strategy) const {
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, replayed_policy(strategy));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .verified_layers = verified_layers(strategy),
                        .categories = table_categories_};
  NoDraft nothing;
  for (const ReplayTotals& request : replay(tables_, nothing, conditions_))
    rounds.vanilla.push_back(request.least.target_steps);
  bool is_certain = true;
  std::int64_t bounded = 0;
  std::int64_t all = 0;
  for (const ReplayTotals& request : replay(tables_, *policy, conditions_)) {
    rounds.setting.status = std::max(rounds.setting.status, request.status);
    is_certain = is_certain && request.status == AnswerStatus::exact;
    bounded += request.bounded_rounds + request.approximate_rounds;
    all += request.least.rounds;
    rounds.setting.least.push_back(request.least);
    rounds.setting.most.push_back(request.most);
  }
  if (pieces(strategy).contains("del") || pieces(strategy).contains("length=del") ||
      pieces(strategy).contains("stop=del") || pieces(strategy).contains("mask=del"))
    rounds.notes.emplace_back(
        "DEL's own passes over all layers' heads are left out; record it to know their time");
  if (is_certain)
    rounds.setting.most.clear();
  else
    rounds.notes.push_back(fmt::format(
        "{} of {} rounds went on behind a confident wrong draft token: how far is not in the recording",
        bounded, all));
  return rounds;
}

const std::optional<AcceptanceModel>& WhatIf::acceptance_of_exit(const RunRows& run) const {
  return fitted_acceptance_->of(run.run->id,
                                [&] { return fit_markov_acceptance(acceptance_bits(first_repeat(run))); });
}

void WhatIf::fit_acceptance() const {
  if (!tables_.empty()) return;
  for (const RunRows& run : runs_)
    if (has_rounds_of_an_exit(run)) (void)acceptance_of_exit(run);
}

Result<StrategyRounds> WhatIf::modelled_rounds(std::string_view strategy) const {
  if (strategy.substr(0, strategy.find(':')) != "layerskip")
    return fail("strategy {}: {}; without shadow tokens only layerskip can be modelled", strategy,
                no_tables_reason_);
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(*recording_));
  DRAFTSCOPE_TRY_ASSIGN(const PolicyChoice choice, policy_of_specification(strategy, model));
  PlannedRound plan;
  choice.policy->plan({}, plan);
  const auto run = std::find_if(runs_.begin(), runs_.end(), [&](const RunRows& candidate) {
    return has_rounds_of_an_exit(candidate) &&
           candidate.requests.front().rounds.front().exit_layer == plan.exit;
  });
  if (run == runs_.end())
    return fail("strategy {}: {}, and no layerskip run of exit {} was recorded; record one of the two",
                strategy, no_tables_reason_, plan.exit);
  const RunRows first = first_repeat(*run);
  const std::optional<AcceptanceModel>& fitted = acceptance_of_exit(*run);
  if (!fitted) return fail("run {}: found no draft token that was judged", run->run->specification);
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::modelled,
                        .verified_layers = verified_layers(strategy)};
  rounds.setting.status = AnswerStatus::approximate;
  for (const RequestRows& rows : first.requests) {
    std::int64_t tokens = 0;
    for (const traces::Round& round : rows.rounds) tokens += round.emitted;
    const std::int64_t context = rows.rounds.front().root_position;
    rounds.vanilla.push_back(vanilla_steps_of(rows, tokens));
    rounds.setting.least.push_back(expected_statistics(
        *fitted, {.exit = plan.exit, .length = plan.length, .tokens = tokens, .first_context = context}));
    rounds.categories.push_back(rows.prompt->category);
  }
  rounds.notes.push_back(
      fmt::format("acceptance is modelled (two hidden states) from run {}; record with --shadow to know it",
                  run->run->specification));
  return rounds;
}

}  // namespace draftscope::simulator
