// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Does a replay of the recorded policy give the recorded rounds? If not, no other replay of this recording is
// to be trusted.

#include <draftscope/simulator/analysis/run_rows.h>
#include <cstdint>
#include <span>
#include <string>

#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {

/// Plans every round from what was recorded before it, round by round, and compares exit, planned length,
/// threshold, drafted, accepted and emitted tokens. `tables` as shadow_tables() gives them, of any requests;
/// the run's own are looked up. Each repeat starts the policy anew, as recording does. Errors: the run's
/// parameters or the recording's meta are not readable.
[[nodiscard]] Result<ReplayCheck> replays_recorded(const RunRows& run, std::span<const ShadowTable> tables,
                                                   const traces::Recording& recording);

}  // namespace draftscope::simulator
