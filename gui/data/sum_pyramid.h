// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Levels of detail, whose nodes sum up ever more items, so that no stretch is walked item by item. Immutable
// once built; several threads may read them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace draftscope::gui {

/// Visits the nodes that make up a stretch of items: the widest that fit, and single items at both ends.
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

/// Rows of numbers: the sum over any stretch of items. Node i of level k sums the rows of block · 4^k items.
/// An answer is exact, because the items at both ends of a stretch are added one by one. The caller stores
/// the items, perhaps in a narrower form. Memory: 4/3 · width numbers per `block` items.
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

struct ValueSummary {
  std::uint32_t values = 0;  ///< Number of values that are not NaN.
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  double sum = 0.0;

  [[nodiscard]] double mean() const { return sum / values; }  ///< NaN without values.
};

/// The minimum, the maximum and the mean of a value over any stretch of rounds: node i of level k summarises
/// 16^(k+1) values. Minimum, maximum and count are exact, the sum is one of doubles. Memory: 4 bytes per
/// value, and 24 per 16 values.
class ValuePyramid {
 public:
  ValuePyramid() = default;
  /// A NaN counts as no value. O(values).
  explicit ValuePyramid(std::vector<float> values);

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] float operator[](std::size_t place) const { return values_[place]; }
  /// Summary of the values [first, last). O(log values).
  [[nodiscard]] ValueSummary summarise(std::size_t first, std::size_t last) const;

 private:
  std::vector<float> values_;
  std::vector<std::vector<ValueSummary>> levels_;
};

}  // namespace draftscope::gui
