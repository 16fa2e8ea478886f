// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/draft_tokens.h"

#include <algorithm>

namespace draftscope::simulator {

std::span<const traces::DraftToken> draft_tokens_of(const traces::Recording& recording,
                                                    traces::RoundId round_id) {
  struct ByRound {
    bool operator()(const traces::DraftToken& token, traces::RoundId id) const { return token.round_id < id; }
    bool operator()(traces::RoundId id, const traces::DraftToken& token) const { return id < token.round_id; }
  };
  const auto [begin, end] =
      std::equal_range(recording.draft_tokens.begin(), recording.draft_tokens.end(), round_id, ByRound{});
  return {begin, end};
}

}  // namespace draftscope::simulator
