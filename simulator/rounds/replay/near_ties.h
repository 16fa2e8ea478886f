// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Near ties limit exactness: on another machine, kernel or number type the target's best two logits may swap
// where they are close. This finds the positions at risk and their effect on a replay.

#include <cstdint>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// Positions of the text where the target's margin is below `epsilon` (logits), ascending. A position where
/// the target does not predict the text's token is always at risk.
[[nodiscard]] std::vector<std::int32_t> near_ties(const ShadowTable& table, float epsilon);

/// Verdict on a draft token at a position at risk.
enum class TieOutcome : std::uint8_t {
  rejected,  ///< Pessimistic: no exit's token is accepted there.
  accepted,  ///< Optimistic: every exit's token is accepted there.
};

/// The table with every position at risk flipped. Replays of the two tables bound the effect on fixed (E, γ)
/// in tokens per round; the text itself stays the same.
[[nodiscard]] ShadowTable with_near_ties(const ShadowTable& table, float epsilon, TieOutcome outcome);

}  // namespace draftscope::simulator
