// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <span>

#include "prices/fit/pass_times.h"

namespace draftscope::simulator {

/// Measured times of a run from first tokens to ends: the sum over prompts, each the mean of its repeats. A
/// repeat that wrote another text counts with its time per token, for the length of the first repeat's.
struct DecodeTimes {
  double all_ns = 0.0;
  double draft_ns = 0.0;
  double verify_ns = 0.0;
};

/// Requests without rounds or a first token are left out. O(rounds).
[[nodiscard]] DecodeTimes decode_times(const RunRows& run);

/// Drift of decode times (per token, where texts differ) between repeats on the same prompts, pooled over
/// runs. An effect that only one repeat shows belongs to the time of that repeat. Unknown without a vanilla
/// run or with a single repeat.
[[nodiscard]] Drift drift_between_repeats(std::span<const RunRows> runs);

/// Drift by the differences between requests of a single repeat: standard errors of the times of a run and of
/// vanilla decoding, pooled over runs. Unknown where vanilla decoding had one request, or no other run.
[[nodiscard]] Drift drift_within_repeat(std::span<const MeasuredRun> runs, traces::RunId vanilla);

}  // namespace draftscope::simulator
