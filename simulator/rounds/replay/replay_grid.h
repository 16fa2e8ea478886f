// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every fixed (E, γ) on one text, fast: run lengths once an exit, then a step a round.

#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/replay.h"

namespace draftscope::simulator {

struct GridCell {
  std::int32_t exit = 0;
  std::int32_t length = 0;
  ReplayTotals totals;  ///< as replay() of the fixed policy has them
};

/// By exit, then length, in the order given. Expects exits from 1 to n_layers − 1 and lengths from 0; 0 is
/// decoding without drafts. O(exits · (positions + lengths · rounds)).
[[nodiscard]] std::vector<GridCell> grid_statistics(const ShadowTable& table,
                                                    std::span<const std::int32_t> exits,
                                                    std::span<const std::int32_t> lengths,
                                                    const ReplayConditions& conditions);

}  // namespace draftscope::simulator
