// SPDX-License-Identifier: GPL-3.0-or-later
#include "value_pyramid.h"

#include <algorithm>
#include <cmath>

namespace draftscope::gui {

namespace {

constexpr std::size_t fan_out = 16;

void add(float value, ValueSummary& into) {
  if (std::isnan(value)) return;
  ++into.values;
  into.least = std::min(into.least, value);
  into.most = std::max(into.most, value);
  into.sum += value;
}

void add(const ValueSummary& part, ValueSummary& into) {
  into.values += part.values;
  into.least = std::min(into.least, part.least);
  into.most = std::max(into.most, part.most);
  into.sum += part.sum;
}

template <typename Part>
std::vector<ValueSummary> summarised(const std::vector<Part>& below) {
  std::vector<ValueSummary> above(below.size() / fan_out);
  for (std::size_t i = 0; i < above.size() * fan_out; ++i) add(below[i], above[i / fan_out]);
  return above;
}

}  // namespace

ValuePyramid::ValuePyramid(std::vector<float> values) : values_(std::move(values)) {
  for (std::vector<ValueSummary> level = summarised(values_); !level.empty();
       level = summarised(levels_.back()))
    levels_.push_back(std::move(level));
}

ValueSummary ValuePyramid::summarise(std::size_t first, std::size_t last) const {
  ValueSummary summary;
  last = std::min(last, values_.size());
  while (first < last) {
    std::size_t level = 0;
    std::size_t covered = 0;  // by the widest node that begins here and ends in time
    for (std::size_t nodes = fan_out; level < levels_.size() && first % nodes == 0 && first + nodes <= last;
         nodes *= fan_out, ++level)
      covered = nodes;
    if (covered == 0) {
      add(values_[first++], summary);
    } else {
      add(levels_[level - 1][first / covered], summary);
      first += covered;
    }
  }
  return summary;
}

}  // namespace draftscope::gui
