// SPDX-License-Identifier: GPL-3.0-or-later
#include "waterfall_picture.h"

#include <vector>

namespace draftscope::gui {

Result<WaterfallLevels> waterfall_of(const LearntRecording& learnt, const Reply& reply,
                                     const std::function<bool(std::int64_t, std::int64_t)>& progress) {
  const Question& question = reply.question;
  DRAFTSCOPE_TRY_ASSIGN(const WhatIfPointer what_if, learnt.what_if(question));
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Machine machine, machine_of(question, what_if->recorded_scenario()));
  std::vector<simulator::StrategyRounds> strategies;
  if (auto rounds = what_if->rounds(strategy_of(question)); rounds && reply.refusal.empty())
    strategies.push_back(*std::move(rounds));
  simulator::WaterfallOptions options;
  options.progress = progress;
  WaterfallLevels levels{.machine = machine.name, .found = {}};
  DRAFTSCOPE_TRY_ASSIGN(levels.found,
                        simulator::recording_waterfall(*what_if, learnt.recording(), machine, strategies,
                                                       question.longer_context, options));
  return levels;
}

}  // namespace draftscope::gui
