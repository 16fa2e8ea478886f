// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/run_rows.h>

namespace draftscope::simulator {

/// Measured times of a run from first tokens to ends: the sum over prompts, each the mean of its repeats.
struct DecodeTimes {
  double all_ns = 0.0;
  double draft_ns = 0.0;   ///< Draft steps of a model.
  double verify_ns = 0.0;  ///< Verifications of rounds that draft.
};

/// Requests without rounds or a first token are left out. O(rounds).
[[nodiscard]] DecodeTimes decode_times(const RunRows& run);

}  // namespace draftscope::simulator
