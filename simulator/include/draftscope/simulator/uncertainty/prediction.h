// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One what-if with the best intervals there are: the studentized bootstrap over requests
// (cluster_bootstrap.h), to whose draws the prices' noise is added, draw by draw.

#include <draftscope/simulator/sweep/sweep.h>
#include <draftscope/simulator/uncertainty/cluster_bootstrap.h>
#include <draftscope/simulator/uncertainty/prediction_pathology.h>
#include <draftscope/simulator/uncertainty/variance_budget.h>
#include <optional>
#include <span>

namespace draftscope::simulator {

struct SpeedupPrediction {
  AnswerStatus status = AnswerStatus::exact;  ///< of the rounds
  RatioEstimate total;                        ///< sum of vanilla times / sum of times
  RatioEstimate request_mean;                 ///< mean over requests of their own speedups
};

/// With the fewest draft tokens, and if the setting is bounded with the most as well.
struct PredictedSpeedup {
  SpeedupPrediction min_drafted;
  std::optional<SpeedupPrediction> max_drafted;
};

/// Of both bounds, the outermost; absent without an interval.
[[nodiscard]] std::optional<Interval> outermost_interval_80(const PredictedSpeedup& speedup);
[[nodiscard]] std::optional<Interval> outermost_interval_95(const PredictedSpeedup& speedup);

/// `vanilla` as sweep() wants it. Errors as sweep(), and an invalid setting. O(draws · requests · pass
/// kinds).
[[nodiscard]] Result<PredictedSpeedup> predict_speedup(std::span<const PassCount> vanilla,
                                                       const SweepSetting& setting, const SweepTarget& target,
                                                       const SweepOptions& options = {});

/// Tokens a second, total over total, with the fewest draft tokens and if the setting is bounded with the
/// most as well. What draws of prices have in common does not cancel here as it does in a speedup.
struct PredictedRate {
  RatioEstimate min_drafted;
  std::optional<RatioEstimate> max_drafted;

  /// Of both bounds, the outermost; absent without an interval.
  [[nodiscard]] std::optional<Interval> interval_80() const;
  [[nodiscard]] std::optional<Interval> interval_95() const;
};

/// Errors and time as predict_speedup(), with the same draws of requests and prices.
[[nodiscard]] Result<PredictedRate> predict_rate(const SweepSetting& setting, const SweepTarget& target,
                                                 const SweepOptions& options = {});

/// The same with and without requests that loop or run away. `without` is absent if there is none such, or
/// no other.
struct PredictionByPathology {
  PredictedSpeedup with;
  std::optional<PredictedSpeedup> without;
};
[[nodiscard]] Result<PredictionByPathology> predict_with_and_without(std::span<const PassCount> vanilla,
                                                                     const SweepSetting& setting,
                                                                     const SweepTarget& target,
                                                                     const Pathology& pathology,
                                                                     const SweepOptions& options = {});

}  // namespace draftscope::simulator
