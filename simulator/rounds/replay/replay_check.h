// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks that a replay of the recorded policy gives the recorded rounds. If not, no other replay of this
// recording can be trusted.

#include <draftscope/simulator/analysis/run_rows.h>
#include <cstdint>
#include <span>
#include <string>

#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {

/// Plans every round from the recorded rounds before it and compares exit, planned length, threshold,
/// drafted, accepted and emitted tokens. `tables` must come from shadow_tables(), for any requests; those of
/// the run are looked up. Each repeat restarts the policy, as recording does. Errors: the run's parameters or
/// the recording's meta are not readable.
[[nodiscard]] Result<ReplayCheck> replays_recorded(const RunRows& run, std::span<const ShadowTable> tables,
                                                   const traces::Recording& recording);

}  // namespace draftscope::simulator
