// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace draftscope::simulator {

struct TimedPass {
  float ns = 0.0F;  ///< seven digits are more than a clock gives
  float context = 0.0F;
};

/// Fewer times than this may all have been interrupted but one.
inline constexpr std::size_t min_for_median = 5;

/// The median; of few times the minimum. Expects at least one; reorders.
[[nodiscard]] inline double usual_of(std::vector<double>& times) {
  if (times.size() < min_for_median) return *std::min_element(times.begin(), times.end());
  return upper_median(times);
}

struct RegularTime {
  double ns = 0.0;
  double context = 0.0;
  double count = 0.0;
  double relative_deviation = 0.0;  ///< of one time, whatever outliers there are
};

/// Factor of a mean's error: passes that follow one another make it less certain than independent ones do.
inline constexpr double dependence_of_passes = 2.0;

/// Means over times up to `times_usual` times the usual one and `beyond_ns`: those that nothing interrupted.
/// Not the typical time: a sum of passes is what speed is made of, and contention for the memory, which is no
/// interruption, delays some kinds of passes more than others.
[[nodiscard]] inline RegularTime regular_of(const std::vector<TimedPass>& times, double times_usual,
                                            double beyond_ns) {
  std::vector<double> all;
  all.reserve(times.size());
  for (const TimedPass& time : times) all.push_back(static_cast<double>(time.ns));
  const double longest = times_usual * usual_of(all) + beyond_ns;
  RegularTime sum;
  for (const TimedPass& time : times) {
    const auto ns = static_cast<double>(time.ns);
    if (ns > longest) continue;
    sum.ns += ns;
    sum.context += static_cast<double>(time.context);
    sum.count += 1.0;
  }
  sum.ns /= sum.count;
  sum.context /= sum.count;
  const double usual = usual_of(all);
  for (double& ns : all) ns = std::abs(ns / usual - 1.0);
  constexpr double to_deviation = 1.4826;  // of a normal distribution's median magnitude
  sum.relative_deviation = to_deviation * usual_of(all);
  return sum;
}

}  // namespace draftscope::simulator
