// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <span>

namespace draftscope::simulator {

/// Drift of decode times between repeats on the same prompts, pooled over runs. An effect that only one
/// repeat shows belongs to the time of that repeat. Unknown without a vanilla run or with a single repeat.
[[nodiscard]] Drift drift_between_repeats(std::span<const RunRows> runs);

}  // namespace draftscope::simulator
