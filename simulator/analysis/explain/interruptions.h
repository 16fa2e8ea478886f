// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Time that a busy machine took from a recording.

#include <draftscope/simulator/analysis/run_rows.h>

#include <span>

namespace draftscope::simulator {

struct Interruptions {
  double all_ns = 0.0;   ///< Time of rounds whose kind has a median, without searches of their strategy.
  double lost_ns = 0.0;  ///< Time beyond the median, in interrupted rounds (thresholds.h).

  /// Share of the time; 0 where no kind has a median.
  [[nodiscard]] double share() const { return all_ns > 0.0 ? lost_ns / all_ns : 0.0; }
};

/// Interruptions of rounds that run the same passes, each run by itself. O(rounds · log rounds).
[[nodiscard]] Interruptions interruptions(std::span<const RunRows> runs);

}  // namespace draftscope::simulator
