// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Replays a recorded run of `auto`, decision by decision. The rule that the engine ran receives the recorded
// rounds again, with the confidences and times of that run, all of which rounds and draft tokens contain (a
// round lasts until the next one begins). Nothing is modelled, whatever the sampling was.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/answer_status.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <vector>

#include "strategies/auto/rule_drafters.h"

namespace draftscope::simulator {

struct AutoReplay {
  std::vector<speculation::AutoDrafter> drafters;  ///< The drafters, in the order that choices number them.
  std::vector<std::vector<speculation::AutoChoice>> choices;  ///< [request of the run][round]
};

/// Whether a run decoded by `auto`, under its own name or a policy's.
[[nodiscard]] bool is_auto(const traces::Run& run, std::int32_t n_layers);

/// Computes the rule's choice before each of the run's rounds. Each repeat starts the rule anew, as recording
/// does. O(text · drafters · longest draft). Errors: a run of another strategy, metadata that lacks the shape
/// or the longest output.
[[nodiscard]] Result<AutoReplay> replay_auto(const RunRows& run, const traces::Recording& recording);

/// Compares the choices with the plans of the rounds. Errors: as replay_auto().
[[nodiscard]] Result<ReplayCheck> auto_replays_recorded(const RunRows& run,
                                                        const traces::Recording& recording);

}  // namespace draftscope::simulator
