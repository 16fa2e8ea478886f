// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

namespace draftscope::speculation {

/// Number of sublayers that SWIFT skips at this ratio: the share of all but those of the first and last
/// layer, rounded down.
[[nodiscard]] inline std::int32_t swift_skipped_sublayers(std::int32_t n_layers, double ratio) {
  // The public code multiplies in this order, and rounding decides where the product is near an integer.
  return static_cast<std::int32_t>((static_cast<double>(n_layers) - 2.0) * 2.0 * ratio);
}

/// Rows of one pass of a candidate; a longer window takes several.
inline constexpr std::int32_t swift_pass_rows = 64;

/// Scores of a search so far, and why it ends. Source: SWIFT, appendix B.2.
struct SwiftProgress {
  enum class End : std::uint8_t { none, score, tolerance, iterations };

  double max_score = 0.95;
  std::int32_t max_iterations = 1000;
  std::int32_t max_tolerance = 300;
  double best = 0.0;
  std::int32_t iterations = 0;
  std::int32_t tolerance = 0;  ///< Candidates since the last better one.

  [[nodiscard]] End end() const {
    if (best > max_score) return End::score;
    if (tolerance >= max_tolerance) return End::tolerance;
    return iterations >= max_iterations ? End::iterations : End::none;
  }
  /// Takes a candidate's score; returns whether it is adopted.
  bool take(double score) {
    const bool is_better = score > best;
    best = std::max(best, score);
    tolerance = is_better ? 0 : tolerance + 1;
    ++iterations;
    return is_better;
  }
};

}  // namespace draftscope::speculation
