// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/tree_depth.h>

#include <algorithm>
#include <vector>

namespace draftscope::traces {

std::int32_t tree_depth(std::span<const DraftToken> tokens) {
  std::vector<std::int32_t> depths(tokens.size(), 1);
  std::int32_t deepest = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::int32_t parent = tokens[i].parent;
    if (parent >= 0 && static_cast<std::size_t>(parent) < i)
      depths[i] = depths[static_cast<std::size_t>(parent)] + 1;
    deepest = std::max(deepest, depths[i]);
  }
  return deepest;
}

}  // namespace draftscope::traces
