// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/traces/records.h>
#include <cstdint>
#include <vector>

#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// A round that is known in all its parts, because it was recorded or because a replay tells it.
struct KnownRound {
  /// Positions, counts, exit, threshold and tokens. Ids are the recording's or 0; of a replay there are no
  /// times and no layer set.
  traces::Round round;
  /// Draft tokens; a replay does not know those behind the first wrong one: token -1, confidence not a
  /// number.
  std::vector<traces::DraftToken> draft_tokens;
  std::int32_t draft = 0;        ///< an index into Prices::drafts; 0 = a target step
  std::int32_t draft_steps = 0;  ///< passes of the draft
};

/// A replayed round as a row, with the fewest draft tokens where it is bounded. `round` is of `table`.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                                     const ReplayedRound& round, std::int32_t index);

}  // namespace draftscope::simulator
