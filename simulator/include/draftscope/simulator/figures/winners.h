// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which strategy wins on which text.

#include <draftscope/simulator/figures/speedup.h>
#include <draftscope/traces/reader.h>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// The fastest run of a recording on the prompts of one category, by its speedup over vanilla decoding, which
/// takes part with 1.
struct Winner {
  std::string category;  ///< empty = all
  const traces::Run* run = nullptr;
  const traces::Run* runner_up = nullptr;
  /// Of the winner over the runner-up, on the same prompts. It was chosen for being the largest, so that its
  /// p value is too small where many runs are close.
  std::optional<Speedup> lead;
};

/// All prompts first, then by category if there are several. Empty without a baseline or without another run
/// that shares prompts with it. O(runs · categories · rows).
[[nodiscard]] std::vector<Winner> winners(const traces::Recording& recording);

}  // namespace draftscope::simulator
