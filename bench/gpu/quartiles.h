// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

namespace draftscope::bench {

struct Quartiles {
  double low = 0.0, median = 0.0, high = 0.0;
};

/// Quartiles of at least one value.
[[nodiscard]] inline Quartiles quartiles(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t quarter) { return values[(values.size() - 1) * quarter / 4]; };
  return {at(1), at(2), at(3)};
}

[[nodiscard]] inline double median(const std::vector<double>& values) {
  return quartiles(values).median;
}

/// {"median", "low", "high", "repeats"}; null for no values.
[[nodiscard]] inline nlohmann::json spread(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  const Quartiles q = quartiles(values);
  return {{"median", q.median}, {"low", q.low}, {"high", q.high}, {"repeats", values.size()}};
}

}  // namespace draftscope::bench
