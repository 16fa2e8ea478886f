// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions with intervals: a ratio over requests, one strategy's speedup and rate, and the sources of the
// spread. Pure functions; the same seed gives the same bits.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace draftscope::simulator {

// Intervals of a ratio whose parts are sums over requests, such as tokens per round or vanilla time over
// speculative time. Requests are resampled, never rounds. Rounds of one request resemble each other, and a
// bootstrap that mixes them gives intervals several times too narrow.
//
// The interval is the studentized bootstrap of the ratio's logarithm (Efron and Tibshirani 1993, §12.5), with
// the linearised standard error of a ratio. On skewed, correlated data its nominal 95 % cover 93 to 96 % from
// 20 requests on. BCa and plain percentiles cover 1 to 4 points less (tests/simulator/answers/uncertainty
// checks it). Lengths with a very heavy tail (a log-normal with σ = 1) reduce its coverage by 1 to 2 points.

/// Minimum number of clusters for an interval; with fewer, the nominal coverage was not reached.
inline constexpr std::size_t min_clusters_for_interval = 10;

/// Terms that one request adds to the parts of a ratio. Both are positive.
struct ClusterSums {
  double numerator = 0.0;
  double denominator = 0.0;
};

struct BootstrapOptions {
  std::int32_t draws = 2000;
  std::uint64_t seed = 20240301;
};

struct RatioEstimate {
  double value = 0.0;
  /// Mean of the clusters' own ratios, which a few runaway requests can make differ from `value`.
  double cluster_mean = 0.0;
  std::size_t clusters = 0;
  std::optional<Interval> interval_80, interval_95;
  std::string no_interval_reason;  ///< One line; empty if there are intervals.
};

/// Estimates the ratio of the sums. Errors: no cluster, a part that is not a positive number, draws outside
/// [200, 1,000,000]. O(draws · clusters).
[[nodiscard]] Result<RatioEstimate> cluster_bootstrap(std::span<const ClusterSums> clusters,
                                                      const BootstrapOptions& options = {});

/// Divides the values and their intervals by `ratio`.
void slow_down(RatioEstimate& estimate, double ratio);

/// Spread between kinds of texts, which widens an answer about a kind that was not recorded, or about a run
/// of which a file only states a rate.
struct TextSpread {
  double sigma = 0.0;     ///< Standard deviation of a kind's ln(speedup).
  double freedom = 0.0;   ///< Degrees of freedom of `sigma`.
  std::size_t kinds = 1;  ///< Number of recorded kinds, whose mean the answer is.
  /// Standard error of a stated rate's ln(speedup); the interval is then of it and the spread, since there
  /// are no requests to resample. 0 where rounds are known.
  double stated_error = 0.0;
};

struct PredictionOptions {
  std::int32_t draws = 1000;
  std::uint64_t seed = 20240301;
  std::int32_t threads = 0;  ///< 0 = as many as the machine runs at once.
  /// Set if the question is about texts of another kind or a stated rate; it widens the intervals.
  std::optional<TextSpread> other_texts;
};

/// A ratio in one case of a setting's rounds, or in two: with the fewest draft tokens and with the most. Two
/// cases of approximate rounds have the same interval, in which their distance is one source of errors.
struct PredictedRatio {
  RatioEstimate min_drafted;
  std::optional<RatioEstimate> max_drafted;

  /// Outermost interval of both cases; absent without one.
  [[nodiscard]] std::optional<Interval> interval_80() const;
  [[nodiscard]] std::optional<Interval> interval_95() const;
  [[nodiscard]] double lower() const;   ///< The lower of both values.
  [[nodiscard]] double middle() const;  ///< Midpoint of both values.
};

// The most reliable intervals for one what-if question: the studentized bootstrap over requests
// (cluster_bootstrap), with the prices' noise added to every draw.

/// Sum of vanilla times / sum of times. `vanilla` is [request], in the order of the setting's statistics.
/// Errors: an invalid setting, statistics that differ in their requests, prices that don't cover the
/// setting's exits and widths, a time that is not positive, draws outside [200, 100,000]. The bits do not
/// depend on the threads. O(draws · requests · pass kinds).
[[nodiscard]] Result<PredictedRatio> predict_speedup(std::span<const PassCount> vanilla,
                                                     const SettingRounds& setting,
                                                     const PricedMachine& machine,
                                                     const PredictionOptions& options = {});

/// Tokens per second, total over total, from the same draws of requests and prices. Noise that the draws of
/// prices share does not cancel here as it does in a speedup. Errors and time are those of predict_speedup().
[[nodiscard]] Result<PredictedRatio> predict_rate(std::span<const PassCount> vanilla,
                                                  const SettingRounds& setting, const PricedMachine& machine,
                                                  const PredictionOptions& options = {});

// Variance budget of a prediction: the share of the variance of ln(speedup) that each source causes
// separately, with all others at their means, and the remainder for their interaction. Measuring the source
// with the largest share narrows the interval most.
//
// Separate and joint runs use the same random numbers, so that the interaction is not the noise of the draws.
// It may be negative. Noise that scales all times of a target alike has no share, because it cancels.

/// Variance shares, which sum to 1 if there is any variance.
struct VarianceBudget {
  double sigma = 0.0;       ///< Standard deviation of ln(speedup) with all sources varying.
  double acceptance = 0.0;  ///< Share of the choice of requests, including other kinds of texts.
  double fit = 0.0;         ///< Share of PriceSources::fit; the next ones follow PriceSources.
  double width = 0.0;
  double transfer = 0.0;
  double interaction = 0.0;  ///< 1 − the other shares.
};

/// Computes the budget of a setting's statistics with the fewest draft tokens. Errors: those of
/// predict_speedup(), and too few requests for an interval. O(draws · requests), and four times `draws` price
/// draws.
[[nodiscard]] Result<VarianceBudget> variance_budget(std::span<const PassCount> vanilla,
                                                     const SettingRounds& setting,
                                                     const PricedMachine& machine,
                                                     const PredictionOptions& options = {});

}  // namespace draftscope::simulator
