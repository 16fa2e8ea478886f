// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace draftscope::simulator {

struct TimedPass {
  float ns = 0.0F;  ///< seven digits are more than a clock gives
  float context = 0.0F;
};

/// Fewer than this many times say nothing of what is usual.
inline constexpr std::size_t fewest_for_median = 5;

/// Expects at least one; reorders.
[[nodiscard]] inline double median_of(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// The longest time that counts as uninterrupted. Expects at least one; reorders.
[[nodiscard]] inline double longest_regular(std::vector<double>& times, double times_median,
                                            double beyond_ns) {
  if (times.size() < fewest_for_median) return *std::max_element(times.begin(), times.end());
  return times_median * median_of(times) + beyond_ns;
}

struct RegularTime {
  double ns = 0.0;
  double context = 0.0;
};

/// Means over the times that nothing interrupted. Not the typical time: a sum of passes is what speed is made
/// of, and contention for the memory, which is no interruption, delays some kinds of passes more than others.
[[nodiscard]] inline RegularTime regular_of(const std::vector<TimedPass>& times, double times_median,
                                            double beyond_ns) {
  std::vector<double> all;
  all.reserve(times.size());
  for (const TimedPass& time : times) all.push_back(static_cast<double>(time.ns));
  const double longest = longest_regular(all, times_median, beyond_ns);
  RegularTime sum;
  double count = 0.0;
  for (const TimedPass& time : times) {
    if (static_cast<double>(time.ns) > longest) continue;
    sum.ns += static_cast<double>(time.ns);
    sum.context += static_cast<double>(time.context);
    count += 1.0;
  }
  return {sum.ns / count, sum.context / count};
}

}  // namespace draftscope::simulator
