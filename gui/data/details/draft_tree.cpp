// SPDX-License-Identifier: GPL-3.0-or-later
#include "draft_tree.h"

#include <algorithm>
#include <span>
#include <utility>

namespace draftscope::gui {

DraftTree draft_tree(const OpenedRecording& opened, std::uint32_t round_index) {
  const std::span<const traces::DraftToken> drafts = opened.draft_tokens(round_index);
  const traces::DraftToken* all = opened.recording().draft_tokens.data();
  DraftTree tree;
  const auto count = static_cast<std::int32_t>(drafts.size());
  std::vector<std::vector<std::int32_t>> children(drafts.size() + 1);  // The root's are last.
  for (std::int32_t i = 0; i < count; ++i) {
    const traces::DraftToken& draft = drafts[static_cast<std::size_t>(i)];
    const bool is_known = draft.parent >= 0 && draft.parent < i;
    DraftTreeNode node{.draft_index = static_cast<std::uint32_t>(&draft - all),
                       .parent = is_known ? draft.parent : -1};
    if (is_known) node.column = tree.nodes[static_cast<std::size_t>(node.parent)].column + 1;
    children[is_known ? static_cast<std::size_t>(node.parent) : drafts.size()].push_back(i);
    tree.columns = std::max(tree.columns, node.column + 1);
    tree.nodes.push_back(node);
  }
  // Walk depth first, without recursion: a damaged file's tree may be as deep as it has tokens.
  std::vector<std::pair<std::int32_t, bool>> to_place;  // (node, whether it begins a new row)
  const auto push = [&](const std::vector<std::int32_t>& nodes) {
    for (std::size_t i = nodes.size(); i-- > 0;) to_place.emplace_back(nodes[i], i > 0);
  };
  push(children.back());
  if (!to_place.empty()) tree.rows = 1;
  while (!to_place.empty()) {
    const auto [node, begins_row] = to_place.back();
    to_place.pop_back();
    if (begins_row) ++tree.rows;
    tree.nodes[static_cast<std::size_t>(node)].row = tree.rows - 1;
    push(children[static_cast<std::size_t>(node)]);
  }
  return tree;
}

std::size_t draft_step_of(const LaneSlices& slices, std::size_t index) {
  std::size_t step = 0;
  while (step < index && slices.round_index(index - step - 1) == slices.round_index(index) &&
         slices.name(index - step - 1) == slices.name(index))
    ++step;
  return step;
}

std::vector<std::size_t> tokens_of_step(const OpenedRecording& opened, std::uint32_t round_index,
                                        std::size_t step) {
  const auto tokens = opened.draft_tokens(round_index);
  std::vector<std::size_t> depth(tokens.size());
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    // A parent stands before its children, but a damaged file may have any order.
    const auto parent = static_cast<std::size_t>(tokens[i].parent);
    if (tokens[i].parent >= 0 && parent < i) depth[i] = depth[parent] + 1;
    if (depth[i] == step) found.push_back(i);
  }
  return found;
}

}  // namespace draftscope::gui
