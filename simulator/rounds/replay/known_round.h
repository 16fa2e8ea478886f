// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/records.h>
#include <cstdint>
#include <vector>

#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// A round that is known completely, because it was recorded or replayed.
struct KnownRound {
  /// Positions, counts, exit, threshold and tokens. Ids are the recording's or 0; a replayed round has no
  /// times and no layer set.
  traces::Round round;
  /// Draft tokens. In a replay those after the first wrong one are unknown: token -1, confidence NaN.
  std::vector<traces::DraftToken> draft_tokens;
  std::int32_t draft = 0;         ///< Index into Prices::drafts; 0 = a target step.
  std::int32_t draft_steps = 0;   ///< Passes of the draft.
  std::int32_t planned_rows = 0;  ///< Rows that the verification was planned for; 0 = those that it had.
};

/// A replayed round as a row, with the fewest draft tokens where it is bounded. `round` must belong to
/// `table`.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                                     const ReplayedRound& round, std::int32_t index);

}  // namespace draftscope::simulator
