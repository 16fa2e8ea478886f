// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <draftscope/simulator/answers/predicted_trace.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/speculation/strategy_text.h>
#include <draftscope/traces/missing_data.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/run_specification.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

/// Context of the round's last draft step, or of its verification.
std::int32_t longest_context(const traces::Round& round) {
  return round.root_position + round.tree_depth;
}

}  // namespace

Result<WhatIf> WhatIf::train(traces::Reader& reader, const traces::Recording& recording,
                             const WhatIfOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(TrainedRecording trained, simulator::train(reader, recording, options.recorded_on,
                                                                   options.specified, options.progress));
  return WhatIf(std::make_shared<const TrainedRecording>(std::move(trained)));
}

const CostFit& WhatIf::costs() const {
  return trained_->costs;
}

Scenario WhatIf::recorded_scenario() const {
  Scenario scenario = fitted_scenario(trained_->costs.model);
  scenario.has_next_token_layer = has_next_token_layer(trained_->recording->meta);
  if (trained_->costs.model.from_trace) return scenario;
  std::int32_t longest = 0;
  for (const RunRows& run : trained_->runs)
    for (const RequestRows& request : run.requests)
      if (!request.rounds.empty()) longest = std::max(longest, longest_context(request.rounds.back()));
  if (longest > 0) scenario.context = longest;
  return scenario;
}

Result<StrategyRounds> WhatIf::rounds(std::string_view strategy) const {
  return rounds_of(*trained_, strategy);
}

Result<StrategyRounds> WhatIf::rounds(std::string_view strategy, const Machine& machine) const {
  return rounds_of(*trained_, strategy, &machine);
}

std::string WhatIf::no_replay_reason() const {
  const PolicyChoice text = text_choice(*trained_->recording);
  if (text.status == AnswerStatus::invalid) return text.reason;
  if (trained_->shadowed.tables.empty())
    return "found no shadow tokens, which say what other exit layers would have drafted; record with "
           "--shadow";
  return "";
}

void WhatIf::fit_acceptance() const {
  simulator::fit_acceptance(*trained_);
}

Result<StrategyRounds> rounds_at_target_exit(const WhatIf& what_if, std::string_view strategy,
                                             const ModelShape& asked) {
  const ModelShape recorded = what_if.recorded_scenario().shape;
  const auto text = speculation::parameter_of(strategy, "exit");
  if (!text || recorded.n_layers == asked.n_layers) {
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if.rounds(strategy));
    return for_shape(std::move(rounds), recorded, asked);
  }
  const auto exit = parse_number<std::int32_t>(*text);
  if (!exit || *exit < 1 || *exit >= asked.n_layers)
    return fail("strategy {}: exit is {}, expected a layer of {} from 1 to {}", strategy, quote(*text),
                asked.name, asked.n_layers - 1);
  const double share = static_cast<double>(*exit) / asked.n_layers;
  const auto nearest = std::clamp(static_cast<std::int32_t>(std::lround(share * recorded.n_layers)),
                                  std::min(1, recorded.n_layers - 1), recorded.n_layers - 1);
  const std::string known =
      speculation::set_parameter(std::string(strategy), "exit", std::to_string(nearest));
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if.rounds(known));
  rounds = for_shape(std::move(rounds), recorded, asked, *exit);
  rounds.strategy = strategy;
  return rounds;
}

Result<void> check_can_be_asked(const traces::Recording& recording, const std::string& name) {
  const traces::Meta& meta = recording.meta;
  if (is_predicted(meta))
    return fail("{}: is predicted itself, expected the recording that it was predicted from", name);
  if (traces::is_imported(meta) && !knows_acceptance(meta))
    return fail(
        "{}: is an imported {} timeline without accepted lengths, expected a recording (draftscope record, "
        "best "
        "with --shadow) or imported answers",
        name, meta_value(meta, "imported_format"));
  return {};
}

Result<void> check_has_vanilla(const traces::Recording& recording, const std::string& name) {
  if (std::ranges::none_of(recording.runs, &traces::Run::is_baseline))
    return fail("{}: found no vanilla run, expected one to gain over: record with --strategy vanilla", name);
  return {};
}

Result<void> check_can_be_advised_on(const traces::Recording& recording, const std::string& name) {
  if (traces::is_imported(recording.meta))
    return fail("{}: an imported trace, which says nothing of layers, expected draftscope record", name);
  return check_has_vanilla(recording, name);
}

}  // namespace draftscope::simulator
