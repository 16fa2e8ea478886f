// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Level of detail of rows of numbers: the sum over any stretch of items without walking them all. Node i of
// level k sums the rows of block · 4^k items. An answer is exact, because the items at both ends of a stretch
// are added one by one. The caller stores the items, perhaps in a narrower form.
//
// Memory: 4/3 · width numbers per `block` items. Immutable once built; several threads may read it.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "pyramid_nodes.h"

namespace draftscope::gui {

template <typename Number>
class SumPyramid {
 public:
  static constexpr std::size_t fan_out = 4;

  SumPyramid() = default;

  /// `add_item(place, row)` adds the numbers of one item to a row of `width` numbers. O(items · width).
  template <typename AddItem>
  SumPyramid(std::size_t width, std::size_t items, std::size_t block, const AddItem& add_item)
      : width_(width), items_(items), block_(block) {
    std::vector<Number> rows(items / block * width);
    for (std::size_t node = 0; node < items / block; ++node)
      for (std::size_t item = node * block; item < (node + 1) * block; ++item)
        add_item(item, std::span(rows).subspan(node * width, width));
    while (!rows.empty()) {
      levels_.push_back(std::move(rows));
      rows = summed(levels_.back());
    }
  }

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t items() const { return items_; }

  /// Adds the items [first, last) to `into`, which has `width` numbers. O(block + log items) rows.
  template <typename AddItem>
  void add(std::size_t first, std::size_t last, std::span<Number> into, const AddItem& add_item) const {
    last = std::min(last, items_);
    visit_nodes(
        first, last, block_, fan_out, levels_.size(), [&](std::size_t item) { add_item(item, into); },
        [&](std::size_t level, std::size_t node) {
          const Number* row = levels_[level].data() + node * width_;
          for (std::size_t i = 0; i < width_; ++i) into[i] += row[i];
        });
  }

  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = 0;
    for (const std::vector<Number>& level : levels_) all += level.size() * sizeof(Number);
    return all;
  }

 private:
  /// Sums whole groups of `fan_out` nodes; the rest at the end stays with the level below.
  [[nodiscard]] std::vector<Number> summed(const std::vector<Number>& below) const {
    const std::size_t groups = width_ == 0 ? 0 : below.size() / width_ / fan_out;
    std::vector<Number> above(groups * width_);
    for (std::size_t i = 0; i < groups * fan_out * width_; ++i)
      above[i / (fan_out * width_) * width_ + i % width_] += below[i];
    return above;
  }

  std::size_t width_ = 0;
  std::size_t items_ = 0;
  std::size_t block_ = 1;
  std::vector<std::vector<Number>> levels_;
};

}  // namespace draftscope::gui
