// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "quartiles.h"

namespace draftscope::bench {

/// Values relative to those of the same repeat.
[[nodiscard]] inline std::vector<double> ratios(const std::vector<double>& values,
                                                const std::vector<double>& units) {
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.push_back(values[i] / units[i]);
  return result;
}

/// Returns a line if a pass of two rows took less time than a pass of one row, in at least three of four
/// repeats and by more than a hundredth. Two rows read as much as one row and compute more, so the one-row
/// pass must be at fault. Arguments are seconds, repeat by repeat.
[[nodiscard]] inline std::optional<std::string> slow_one_row(const std::vector<double>& one_row,
                                                             const std::vector<double>& two_rows) {
  constexpr double least = 0.99;
  std::vector<double> against_one_row = ratios(two_rows, one_row);
  std::sort(against_one_row.begin(), against_one_row.end());
  if (against_one_row[(against_one_row.size() * 3 + 3) / 4 - 1] >= least) return std::nullopt;
  return fmt::format(
      "one row takes {:.2f} ms, two rows {:.2f}: the one-row pass is slow, and every speedup over it is too "
      "large",
      median(one_row) * 1e3, median(two_rows) * 1e3);
}

}  // namespace draftscope::bench
