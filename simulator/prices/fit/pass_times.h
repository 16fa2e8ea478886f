// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Times of passes per kind, and their means with errors.

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
  float ns = 0.0F;  ///< Seven digits exceed the precision of a clock.
  float context = 0.0F;
};

/// Minimum number of times for a median; of fewer, all but one may have been interrupted.
inline constexpr std::size_t min_for_median = 5;

/// Median; for few times the minimum. `times` must not be empty; reorders it.
[[nodiscard]] inline double usual_of(std::vector<double>& times) {
  if (times.size() < min_for_median) return *std::min_element(times.begin(), times.end());
  return upper_median(times);
}

struct RegularTime {
  double ns = 0.0;
  double context = 0.0;
  double count = 0.0;
  double relative_deviation = 0.0;  ///< Relative deviation of one time, robust against outliers.
};

/// Factor of a mean's error: consecutive passes make it less certain than independent ones.
inline constexpr double dependence_of_passes = 2.0;

/// Means over uninterrupted times: those up to `times_usual` times the usual one and `beyond_ns`. They are
/// not typical times, because a speed is a sum of passes. Contention for the memory, which is no
/// interruption, delays some kinds of passes more than others. On a busy machine the deviation is that of all
/// these times, else that of typical ones.
[[nodiscard]] inline RegularTime regular_of(const std::vector<TimedPass>& times, double times_usual,
                                            double beyond_ns, bool is_busy) {
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
  if (is_busy) {
    double squares = 0.0;
    for (const double ns : all)
      if (ns <= longest) squares += (ns / sum.ns - 1.0) * (ns / sum.ns - 1.0);
    sum.relative_deviation = std::sqrt(squares / sum.count);
    return sum;
  }
  const double usual = usual_of(all);
  for (double& ns : all) ns = std::abs(ns / usual - 1.0);
  constexpr double to_deviation = 1.4826;  // Normal standard deviation / median magnitude.
  sum.relative_deviation = to_deviation * usual_of(all);
  return sum;
}

struct PassTime {
  double ns = 0.0;       ///< Time of all steps together.
  double steps = 1.0;    ///< Draft steps of the round; 1 for a target pass.
  double context = 0.0;  ///< Mean over the steps.
  traces::RunId run_id;
  std::int64_t block = 0;  ///< Requests of a block were recorded consecutively: a prompt and repeat.
};
using PassTimes = std::map<MeasuredPassKind, std::vector<PassTime>>;

/// Limit for interruptions, four target steps; 0 without any. A pass is interrupted if it took longer than
/// twice the median of its kind plus this. A long pass hides an interruption that a short one shows. Where
/// interruptions took much of the time (`is_busy`), that difference would decide the prices; so the limit is
/// at least the longest usual pass, and shorter interruptions stay in the means of all kinds alike.
[[nodiscard]] double interruption_ns(const PassTimes& times, bool is_busy);
inline constexpr double uninterrupted_medians = 2.0;

/// Uncertainty of the time of a recorded run's passes.
struct MeasuredRun {
  traces::RunId run_id;
  double relative_error = 0.0;  ///< Standard error by variation between blocks of requests.
  double blocks = 0.0;          ///< Number of blocks; of one, the error is not known.
};

struct MeasuredPasses {
  std::vector<MeasuredPass> passes;
  std::vector<MeasuredRun> runs;
  double interruptions_ns = 0.0;  ///< Time of the interrupted passes beyond their uninterrupted time.
};

/// `beyond_ns` is the limit of interruption_ns(). `coefficients` gives those of a kind with a number of steps
/// and mean context. The error of a mean comes from the differences between blocks, since consecutive passes
/// are slow or fast together. The slowness of a block in its other passes is removed first, since it delays
/// the reference as well. Kinds of few blocks use the others' deviation.
[[nodiscard]] MeasuredPasses measure(
    const PassTimes& times, double beyond_ns,
    const std::function<CostVector(const MeasuredPassKind& kind, double steps, double context)>&
        coefficients);

}  // namespace draftscope::simulator
