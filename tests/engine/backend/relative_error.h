// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How far numbers are from those expected, as a share of these.

#include <algorithm>
#include <cmath>
#include <span>

namespace draftscope::engine::test {

/// The largest difference, by the largest magnitude that is expected.
[[nodiscard]] inline double largest_error(std::span<const float> found, std::span<const float> expected) {
  double error = 0.0;
  double scale = 0.0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error = std::max(error, static_cast<double>(std::abs(found[i] - expected[i])));
    scale = std::max(scale, static_cast<double>(std::abs(expected[i])));
  }
  return error / scale;
}

/// The root of the mean square of the differences, by that of what is expected.
[[nodiscard]] inline double relative_error(std::span<const float> found, std::span<const float> expected) {
  double missed = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = static_cast<double>(found[i]) - static_cast<double>(expected[i]);
    missed += difference * difference;
    size += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return std::sqrt(missed / size);
}

}  // namespace draftscope::engine::test
