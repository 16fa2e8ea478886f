// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Layout of a round's draft as a tree: the place of each draft token if branches run from left to right, one
// below another.

#include <cstdint>
#include <vector>

#include "data/lanes/timeline.h"
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

// The draft tokens that a draft step proposed.

/// Name of the spans that the engine records for draft steps.
inline constexpr std::string_view draft_step_name = "draft step";

/// Place of a slice, from 0, among consecutive slices in its lane with the same name and round.
[[nodiscard]] std::size_t draft_step_of(const LaneSlices& slices, std::size_t index);

/// Tokens that a step of the round proposed, as indices into draft_tokens(): all tokens at the step's depth
/// in the token tree, in a chain at most one.
[[nodiscard]] std::vector<std::size_t> tokens_of_step(const OpenedRecording& opened,
                                                      std::uint32_t round_index, std::size_t step);

}  // namespace draftscope::gui
