// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The minimum, the maximum and the mean of a value over any stretch of rounds, without walking them all: node
// i of level k summarises 16^(k+1) values. Minimum, maximum and count are exact, the sum is one of doubles.
//
// Memory: 4 bytes per value, and 24 per 16 values. Immutable once built; several threads may read it.

#include <cstdint>
#include <limits>
#include <vector>

namespace draftscope::gui {

struct ValueSummary {
  std::uint32_t values = 0;  ///< Number of values that are not NaN.
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  double sum = 0.0;

  [[nodiscard]] double mean() const { return sum / values; }  ///< NaN without values.
};

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
