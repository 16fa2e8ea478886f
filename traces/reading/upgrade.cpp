// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/upgrade.h"

#include <draftscope/traces/tree_depth.h>

#include <algorithm>
#include <span>
#include <utility>

namespace draftscope::traces {

void add_tree_depths(Recording& recording) {
  const std::vector<DraftToken>& all = recording.draft_tokens;
  for (Round& round : recording.rounds) {
    const auto first = std::partition_point(
        all.begin(), all.end(), [&](const DraftToken& token) { return token.round_id < round.id; });
    const auto last = std::partition_point(
        first, all.end(), [&](const DraftToken& token) { return token.round_id == round.id; });
    const std::span<const DraftToken> tokens(first, last);
    const bool is_complete = std::cmp_equal(tokens.size(), round.drafted);
    round.tree_depth = is_complete ? tree_depth(tokens) : round.drafted;
  }
}

}  // namespace draftscope::traces
