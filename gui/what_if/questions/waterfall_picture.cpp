// SPDX-License-Identifier: GPL-3.0-or-later
#include "waterfall_picture.h"

#include <vector>

namespace draftscope::gui {

Result<WaterfallLevels> waterfall_of(const TrainedRecording& trained, const WhatIfAnswer& answer,
                                     const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  const Question& question = answer.question;
  DRAFTSCOPE_TRY_ASSIGN(const WhatIfPointer what_if, trained.what_if(question));
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Machine machine, machine_of(question, what_if->recorded_scenario()));
  std::vector<simulator::StrategyRounds> strategies;
  if (auto rounds = what_if->rounds(strategy_of(question)); rounds && answer.refusal.empty())
    strategies.push_back(*std::move(rounds));
  simulator::WaterfallOptions options;
  options.progress = progress;
  WaterfallLevels levels{.machine = machine.name, .batch = machine.scenario.batch, .found = {}};
  DRAFTSCOPE_TRY_ASSIGN(levels.found,
                        simulator::recording_waterfall(*what_if, trained.recording(), machine, strategies,
                                                       question.longer_context, options));
  return levels;
}

}  // namespace draftscope::gui
