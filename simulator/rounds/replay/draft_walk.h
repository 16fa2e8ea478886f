// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One round of a prefix exit, a chain or a tree, read from a shadow table.

#include <algorithm>

#include "rounds/replay/replay.h"

namespace draftscope::simulator {

/// Tolerance of confidences: half a millionth is lost where a confidence is written to a file, and as much
/// where a threshold is computed from such confidences.
inline constexpr double confidence_rounding = 1e-6;

struct DraftWalk {
  DraftOutcome least, most;
  bool may_end_early = false;
  bool is_near_threshold = false;  ///< Another rounding of a confidence would give another accepted length.
};

/// Whether a request has another round from here. A request that ended at an end token may have a last round
/// that only finds this token.
[[nodiscard]] inline bool has_round(const ShadowTable& table, std::int32_t root_position) {
  return root_position + (table.ended_at_eos ? 0 : 1) < table.end();
}

[[nodiscard]] RoundState state_at(const ShadowTable& table, const ReplayConditions& conditions,
                                  std::int32_t round_index, std::int32_t root_position);

/// γ after the cut at budget, context and width; 0 if nothing is drafted.
[[nodiscard]] std::int32_t longest_draft(const RoundState& state, const PlannedRound& plan,
                                         const ReplayConditions& conditions);

[[nodiscard]] DraftWalk walk_draft(const RoundState& state, const PlannedRound& plan,
                                   const ReplayConditions& conditions);

/// Tokens that reach the output of a round that accepted `accepted` of its draft.
[[nodiscard]] inline std::int32_t emitted_tokens(const ShadowTable& table, std::int32_t root_position,
                                                 std::int32_t accepted) {
  return std::min(accepted + 1, table.end() - root_position - 1);
}

}  // namespace draftscope::simulator
