// SPDX-License-Identifier: GPL-3.0-or-later
#include "sum_pyramid.h"

#include <cmath>

namespace draftscope::gui {

namespace {

constexpr std::size_t value_fan_out = 16;

void add(float value, ValueSummary& into) {
  if (std::isnan(value)) return;
  ++into.values;
  into.min = std::min(into.min, value);
  into.max = std::max(into.max, value);
  into.sum += value;
}

void add(const ValueSummary& part, ValueSummary& into) {
  into.values += part.values;
  into.min = std::min(into.min, part.min);
  into.max = std::max(into.max, part.max);
  into.sum += part.sum;
}

template <typename Part>
std::vector<ValueSummary> summarised(const std::vector<Part>& below) {
  std::vector<ValueSummary> above(below.size() / value_fan_out);
  for (std::size_t i = 0; i < above.size() * value_fan_out; ++i) add(below[i], above[i / value_fan_out]);
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
  visit_nodes(
      first, std::min(last, values_.size()), value_fan_out, value_fan_out, levels_.size(),
      [&](std::size_t place) { add(values_[place], summary); },
      [&](std::size_t level, std::size_t node) { add(levels_[level][node], summary); });
  return summary;
}

}  // namespace draftscope::gui
