// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layout of a round's draft as a tree: the place of each draft token if branches run from left to right, one
// below another.

#include <cstdint>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct DraftTreeNode {
  std::uint32_t draft_index = no_index;  ///< Index into Recording::draft_tokens.
  std::int32_t parent = -1;              ///< Place in DraftTree::nodes; -1 = the root.
  std::int32_t column = 0;               ///< Draft steps from the root, from 0.
  std::int32_t row = 0;  ///< Row from the top; a branch continues in the row of its first child.
};

struct DraftTree {
  std::vector<DraftTreeNode> nodes;  ///< Nodes in the order of drafting.
  std::int32_t columns = 0;
  std::int32_t rows = 0;

  /// False for a chain, which has at most one row.
  [[nodiscard]] bool has_branches() const { return rows > 1; }
};

/// A parent that is not drafted before its child counts as the root. O(draft tokens of the round).
[[nodiscard]] DraftTree draft_tree(const OpenedRecording& opened, std::uint32_t round_index);

}  // namespace draftscope::gui
