// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The smallest, the largest and the mean of a value over any stretch of rounds, without walking them all:
// node i of level k summarises 16^(k+1) values. Smallest, largest and count are exact, the sum is one of
// doubles.
//
// Memory: 4 bytes a value, and 24 for each 16. Immutable once built, free to read from several threads.

#include <cstdint>
#include <limits>
#include <vector>

namespace draftscope::gui {

struct ValueSummary {
  std::uint32_t values = 0;  ///< others are not a number
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  double sum = 0.0;

  [[nodiscard]] double mean() const { return sum / values; }  ///< not a number of none
};

class ValuePyramid {
 public:
  ValuePyramid() = default;
  /// A value that is not a number counts as none. O(values).
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
