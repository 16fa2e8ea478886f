// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recorded run of `auto`, decision by decision: the rule that the engine ran hears of the recorded rounds
// again, with the confidences and the times that it heard of then, all of which rounds and draft tokens hold
// (a round lasts until the next one begins). Nothing is modelled, whatever the sampling was.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <vector>

#include "strategies/auto/rule_drafters.h"

namespace draftscope::simulator {

struct AutoReplay {
  std::vector<speculation::AutoDrafter> drafters;             ///< that choices number
  std::vector<std::vector<speculation::AutoChoice>> choices;  ///< [request of the run][round]
};

/// Whether a run decoded by `auto`, under its own name or a policy's.
[[nodiscard]] bool is_auto(const traces::Run& run, std::int32_t n_layers);

/// The rule's choice before each of the run's rounds. Each repeat starts it anew, as recording does.
/// O(text · drafters · longest draft). Errors: a run of another strategy, meta that lacks the shape or the
/// longest output.
[[nodiscard]] Result<AutoReplay> replay_auto(const RunRows& run, const traces::Recording& recording);

/// Compares the choices with what the rounds planned. Errors: as replay_auto().
[[nodiscard]] Result<ReplayCheck> auto_replays_recorded(const RunRows& run,
                                                        const traces::Recording& recording);

}  // namespace draftscope::simulator
