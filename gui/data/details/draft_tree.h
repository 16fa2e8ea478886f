// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A round's draft as a tree: where each draft token stands if branches run from left to right below one
// another.

#include <cstdint>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

struct DraftTreeNode {
  std::uint32_t draft_index = no_index;  ///< into Recording::draft_tokens
  std::int32_t parent = -1;              ///< place in DraftTree::nodes; -1 = the root
  std::int32_t column = 0;               ///< draft steps from the root, from 0
  std::int32_t row = 0;                  ///< from the top; a branch goes on in its first child's row
};

struct DraftTree {
  std::vector<DraftTreeNode> nodes;  ///< in the order of drafting
  std::int32_t columns = 0;
  std::int32_t rows = 0;

  /// False of a chain: it has one row at most.
  [[nodiscard]] bool has_branches() const { return rows > 1; }
};

/// A parent that is not drafted before its child counts as the root. O(draft tokens of the round).
[[nodiscard]] DraftTree draft_tree(const OpenedRecording& opened, std::uint32_t round_index);

}  // namespace draftscope::gui
