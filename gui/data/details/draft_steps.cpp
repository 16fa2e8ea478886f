// SPDX-License-Identifier: GPL-3.0-or-later
#include "draft_steps.h"

namespace draftscope::gui {

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
