// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/simulated_remedies.h>
#include <draftscope/traces/missing_data.h>

#include <utility>

namespace draftscope::simulator {

namespace {

Result<SimulatedRemedy> ask_about(const WhatIf& what_if, const std::string& strategy) {
  DRAFTSCOPE_TRY_ASSIGN(const StrategyRounds rounds, what_if.rounds(strategy));
  const Machine machine{"as recorded", what_if.recorded_scenario(), nullptr, {}};
  DRAFTSCOPE_TRY_ASSIGN(const Answer answer, ask(what_if.costs().model, rounds, machine));
  return SimulatedRemedy{.strategy = strategy,
                         .status = answer.status,
                         .speedup = answer.speedup.lower(),
                         .interval_95 = answer.speedup.interval_95()};
}

}  // namespace

Result<WhatIf> train_to_explain(traces::Reader& reader, const traces::Recording& recording) {
  if (is_predicted(recording.meta))
    return fail("found a predicted recording, expected the one that it was predicted from");
  if (traces::is_imported(recording.meta))
    return fail(
        "found an imported recording, expected one with times that costs can be learnt from; simulate --gpu "
        "GPU "
        "--model MODEL prices its acceptance by specifications");
  return WhatIf::train(reader, recording);
}

std::function<Result<SimulatedRemedy>(const std::string& strategy)> simulated_remedies(WhatIf what_if) {
  return [what_if = std::move(what_if)](const std::string& strategy) { return ask_about(what_if, strategy); };
}

}  // namespace draftscope::simulator
