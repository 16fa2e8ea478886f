// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a round gave to its request's text. A stop string, an end-of-sequence token or the budget may end the
// text amid a round's tokens; draft tokens after that place count nowhere, though the target agreed with
// them. Rows keep what was accepted before this cut, since strategies decided by that.

#include <draftscope/traces/records.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::traces {

/// Tokens of one round, or the sums of all rounds of a request: only its last round can be cut.
struct RoundTokens {
  std::int64_t rounds = 0;
  std::int64_t accepted = 0;  ///< before the cut
  std::int64_t emitted = 0;

  /// Tokens up to the text's end. An end-of-sequence token counts, which is not emitted: vanilla decoding
  /// takes a step to find it.
  [[nodiscard]] constexpr std::int64_t in_text(RequestStop stop) const {
    return emitted + (stop == RequestStop::eos && emitted < accepted + rounds ? 1 : 0);
  }
  /// Accepted draft tokens among those.
  [[nodiscard]] constexpr std::int64_t accepted_in_text(RequestStop stop) const {
    const std::int64_t beyond = accepted + rounds - in_text(stop) - 1;
    return std::max<std::int64_t>(accepted - std::max<std::int64_t>(beyond, 0), 0);
  }
};

[[nodiscard]] constexpr RoundTokens tokens_of(const Round& round) {
  return {1, round.accepted, round.emitted};
}

/// Depth of each draft token of a round, in the order of their index; 0 = it extends the root. One is in the
/// text if its depth is below RoundTokens::in_text(). Parents as in tree_depth().
[[nodiscard]] std::vector<std::int32_t> token_depths(std::span<const DraftToken> tokens);

}  // namespace draftscope::traces
