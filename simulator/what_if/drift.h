// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/figures/run_rows.h>
#include <span>

namespace draftscope::simulator {

/// How steady the machine was: the standard deviation between repeats of ln(decode time of a run / vanilla's
/// on the same prompts), pooled over runs. What one repeat shows, and no other, belongs to its hour. 0
/// without a vanilla run or with a single repeat.
[[nodiscard]] double drift_between_repeats(std::span<const RunRows> runs);

}  // namespace draftscope::simulator
