// SPDX-License-Identifier: GPL-3.0-or-later
#include "upgrade.h"

#include <draftscope/traces/tree_depth.h>

#include <algorithm>
#include <functional>
#include <span>

namespace draftscope::traces {

void add_tree_depths(Recording& recording) {
  const std::vector<DraftToken>& all = recording.draft_tokens;
  for (Round& round : recording.rounds) {
    const auto tokens = std::ranges::equal_range(all, round.id, std::less{}, &DraftToken::round);
    const bool is_complete = std::cmp_equal(tokens.size(), round.drafted);
    round.tree_depth =
        is_complete ? tree_depth(std::span<const DraftToken>(tokens.begin(), tokens.end())) : round.drafted;
  }
}

}  // namespace draftscope::traces
