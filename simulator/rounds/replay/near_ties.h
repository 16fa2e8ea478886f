// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Exactness has a numerical caveat: on another machine, kernel or number type the target's best two logits
// may change places where they are close. How many positions are at risk, and what they could do to a replay.

#include <cstdint>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// Positions of the text where the target's margin is below `epsilon` (logits), ascending. A target whose
/// prediction is not the text's token is at risk whatever its margin.
[[nodiscard]] std::vector<std::int32_t> near_ties(const ShadowTable& table, float epsilon);

/// Verdict on a draft token at a position at risk.
enum class TieOutcome : std::uint8_t {
  rejected,  ///< pessimistic: no exit's token is accepted there
  accepted,  ///< optimistic: every exit's token is
};

/// The table with every position at risk flipped. Replays of the two tables bound the effect on fixed (E, γ)
/// in tokens per round; the text itself is held.
[[nodiscard]] ShadowTable with_near_ties(const ShadowTable& table, float epsilon, TieOutcome outcome);

}  // namespace draftscope::simulator
