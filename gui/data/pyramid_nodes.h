// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pyramid nodes that make up a stretch of items: the widest nodes that fit, and single items at both ends.

#include <cstddef>

namespace draftscope::gui {

/// Calls node(level, i) or, for an item that no node covers, item(place), in order, until [first, last) is
/// covered. Node i of level k covers the n = `block` · fan_out^k items from i · n on. O(block + fan_out ·
/// levels) calls.
template <typename Item, typename Node>
void visit_nodes(std::size_t first, std::size_t last, std::size_t block, std::size_t fan_out,
                 std::size_t levels, const Item& item, const Node& node) {
  while (first < last) {
    std::size_t level = 0;
    std::size_t covered = 0;  // Items of the widest node that begins at `first` and fits.
    for (std::size_t items = block; level < levels && first % items == 0 && first + items <= last;
         items *= fan_out, ++level)
      covered = items;
    if (covered == 0) {
      item(first++);
    } else {
      node(level - 1, first / covered);
      first += covered;
    }
  }
}

}  // namespace draftscope::gui
