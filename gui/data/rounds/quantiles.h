// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Percentiles of any stretch of durations without sorting it: a wavelet matrix (F. Claude, G. Navarro, A.
// Ordóñez, "The wavelet matrix: an efficient wavelet tree for large alphabets", 2015) over 12-bit codes of
// the durations. A code has seven significant bits, as in HdrHistogram: an answer is off by at most 1/128 of
// itself, and exact below 128 ns. Ranks are exact.
//
// Memory: 1.7 bytes per duration. Immutable once built; several threads may read it.

#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::gui {

/// Maximum relative error of an answer of Quantiles.
inline constexpr double quantile_error = 1.0 / 128.0;

class Quantiles {
 public:
  Quantiles() = default;
  /// Negative durations count as 0. O(12 · durations).
  explicit Quantiles(std::span<const std::int64_t> durations_ns);

  [[nodiscard]] std::size_t size() const { return size_; }
  /// The duration at place `rank` of [first, last) in sorted order; rank < last − first. O(12).
  [[nodiscard]] std::int64_t ranked_ns(std::size_t first, std::size_t last, std::size_t rank) const;

 private:
  /// One bit of every code, in the order that the higher bits gave, with running counts of its zeros.
  struct Level {
    std::vector<std::uint64_t> ones;
    std::vector<std::uint32_t> zeros_before;  ///< [word]
    std::size_t zeros = 0;

    [[nodiscard]] std::size_t zeros_in(std::size_t places) const;
  };

  std::size_t size_ = 0;
  std::vector<Level> levels_;  ///< Highest bit first.
};

}  // namespace draftscope::gui
