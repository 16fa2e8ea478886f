// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/statistics.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace draftscope::bench {

struct Quartiles {
  double low = 0.0, median = 0.0, high = 0.0;
};

/// Quartiles of at least one value.
[[nodiscard]] inline Quartiles quartiles(std::vector<double> values) {
  return {quantile_below(values, 0.25), quantile_below(values, 0.5), quantile_below(values, 0.75)};
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
