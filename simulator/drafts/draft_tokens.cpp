// SPDX-License-Identifier: GPL-3.0-or-later
#include "drafts/draft_tokens.h"

#include <algorithm>

namespace draftscope::simulator {

std::span<const traces::DraftToken> draft_tokens_of(const traces::Recording& recording,
                                                    traces::RoundId round_id) {
  const auto found =
      std::ranges::equal_range(recording.draft_tokens, round_id, {}, &traces::DraftToken::round_id);
  return {found.begin(), found.end()};
}

}  // namespace draftscope::simulator
