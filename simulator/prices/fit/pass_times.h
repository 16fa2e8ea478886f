// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of passes, kind by kind, and from them the means with their errors.

#include <draftscope/base/statistics.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/traces/ids.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
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

struct PassTime {
  double ns = 0.0;       ///< of all steps together
  double steps = 1.0;    ///< draft steps of the round; 1 of a target pass
  double context = 0.0;  ///< mean over the steps
  traces::RunId run_id;
  std::int64_t block = 0;  ///< requests of a block were recorded one after the other: a prompt and repeat
};
using PassTimes = std::map<MeasuredPassKind, std::vector<PassTime>>;

/// A pass that took longer than twice the median of its kind and this was interrupted: something else ran.
/// The same for all kinds, so that interruptions, which come by time, are told by the time they take; four
/// target steps. 0 without any.
[[nodiscard]] double interruption_ns(const PassTimes& times);
inline constexpr double uninterrupted_medians = 2.0;

/// All passes of a recorded run that nothing interrupted, against the means of their kinds: what its rounds
/// leave in the caches, and the noise of its repeats.
struct MeasuredRun {
  traces::RunId run_id;
  double ratio = 1.0;           ///< time / time at the means of the kinds
  double relative_error = 0.0;  ///< standard error of `ratio`, blocks of requests being what varies
};

struct MeasuredPasses {
  std::vector<MeasuredPass> passes;
  std::vector<MeasuredRun> runs;
  double interruptions_ns = 0.0;  ///< beyond what the interrupted passes take otherwise
};

/// `coefficients` of passes of a kind with so many steps at that mean context. The error of a mean comes from
/// how much blocks differ, since passes that follow one another are slow or fast together; how slow a block
/// was by all its other passes is taken out first, since it delays what the kind is compared with as well.
/// Kinds of few blocks have the others' deviation.
[[nodiscard]] MeasuredPasses measure(
    const PassTimes& times,
    const std::function<CostVector(const MeasuredPassKind& kind, double steps, double context)>&
        coefficients);

}  // namespace draftscope::simulator
