// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds that are known one by one, because they were recorded or because a replay tells them.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <vector>

#include "rounds/replay/replay.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

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

struct KnownRequest {
  const traces::Request* request = nullptr;  ///< whose text it is
  const traces::Prompt* prompt = nullptr;
  std::vector<KnownRound> rounds;
};

/// A replayed round as a row, with the fewest draft tokens where it is bounded. `round` is of `table`.
[[nodiscard]] KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                                     const ReplayedRound& round, std::int32_t index);

/// Rounds one by one, request by request as in `rounds`, of which other contexts and shapes are left to the
/// caller. Errors: rounds that are modelled, an imported recording.
[[nodiscard]] Result<std::vector<KnownRequest>> known_rounds(const TrainedRecording& trained,
                                                             const StrategyRounds& rounds);

}  // namespace draftscope::simulator
