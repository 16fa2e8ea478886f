// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Order statistics of samples: medians and quantiles. Both have several definitions, and each function says
// which one it uses. Numbers are those of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
// packages", The American Statistician 50, 1996. All functions expect at least one value and no NaN, and
// reorder the given values; O(n).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <ranges>

namespace draftscope {

/// A reference to a vector, or a span.
template <typename T>
concept Samples = std::ranges::random_access_range<T> && std::ranges::sized_range<T>;

/// Value of this rank in ascending order; rank 0 is the minimum. Values before index `first` must not exceed
/// any value from there on.
template <Samples Values, typename Less = std::less<>>
[[nodiscard]] std::ranges::range_value_t<Values> value_of_rank(Values&& values, std::size_t rank,
                                                               Less less = {}, std::size_t first = 0) {
  const auto begin = std::ranges::begin(values);
  const auto place = begin + static_cast<std::ptrdiff_t>(rank);
  std::nth_element(begin + static_cast<std::ptrdiff_t>(first), place, std::ranges::end(values), less);
  return *place;
}

/// Median; for an even number of values, the lower of the two middle values.
template <Samples Values, typename Less = std::less<>>
[[nodiscard]] std::ranges::range_value_t<Values> lower_median(Values&& values, Less less = {}) {
  return value_of_rank(values, (std::ranges::size(values) - 1) / 2, less);
}

/// Median; for an even number of values, the upper of the two middle values.
template <Samples Values>
[[nodiscard]] std::ranges::range_value_t<Values> upper_median(Values&& values) {
  return value_of_rank(values, std::ranges::size(values) / 2);
}

/// Median; for an even number of values, the mean of the two middle values.
template <Samples Values>
[[nodiscard]] double mean_median(Values&& values) {
  const std::size_t middle = std::ranges::size(values) / 2;
  const double upper = value_of_rank(values, middle);
  if (std::ranges::size(values) % 2 == 1) return upper;
  const auto begin = std::ranges::begin(values);
  return (*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(middle)) + upper) / 2.0;
}

/// Rank of the quantile `share`, from 0 (minimum) to 1 (maximum), rounded down.
[[nodiscard]] inline std::size_t rank_below(double share, std::size_t count) {
  return static_cast<std::size_t>(share * static_cast<double>(count - 1));
}

/// Rank of the quantile `share` in [0, 1], rounded to the nearest.
[[nodiscard]] inline std::size_t nearest_rank(double share, std::size_t count) {
  return static_cast<std::size_t>(std::llround(share * static_cast<double>(count - 1)));
}

/// Value of rank_below(), which is always one of the values.
template <Samples Values>
[[nodiscard]] std::ranges::range_value_t<Values> quantile_below(Values&& values, double share) {
  return value_of_rank(values, rank_below(share, std::ranges::size(values)));
}

/// Value of nearest_rank(), which is always one of the values.
template <Samples Values>
[[nodiscard]] std::ranges::range_value_t<Values> nearest_quantile(Values&& values, double share) {
  return value_of_rank(values, nearest_rank(share, std::ranges::size(values)));
}

/// Quantile by linear interpolation between the two neighbouring ranks: definition 7. Values before index
/// `first` must not exceed any value from there on. After a call for a lower quantile, `first` may be
/// rank_below() of that one.
template <Samples Values>
[[nodiscard]] double interpolated_quantile(Values&& values, double share, std::size_t first = 0) {
  const std::size_t count = std::ranges::size(values);
  const std::size_t rank = rank_below(share, count);
  const double below = value_of_rank(values, rank, std::less<>(), first);
  if (rank + 1 == count) return below;
  const auto next = std::ranges::begin(values) + static_cast<std::ptrdiff_t>(rank + 1);
  const double above = *std::min_element(next, std::ranges::end(values));
  return below + (share * static_cast<double>(count - 1) - static_cast<double>(rank)) * (above - below);
}

}  // namespace draftscope
