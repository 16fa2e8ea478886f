// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Nodes of a pyramid that make up a stretch of items: the widest that begin in their place and end in time,
// and single items at both ends.

#include <cstddef>

namespace draftscope::gui {

/// Node i of level k covers `block` · fan_out^k items from i times as many on. Calls item(place) for an item
/// that no node covers and node(level, i) else, in their order, until [first, last) is covered.
/// O(block + fan_out · levels) calls.
template <typename Item, typename Node>
void visit_nodes(std::size_t first, std::size_t last, std::size_t block, std::size_t fan_out,
                 std::size_t levels, const Item& item, const Node& node) {
  while (first < last) {
    std::size_t level = 0;
    std::size_t covered = 0;  // by the widest node that begins here and ends in time
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
