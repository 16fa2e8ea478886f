// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions with intervals: of a ratio over requests, of one strategy's speedup and rate, and where the
// spread comes from. Pure functions; the same seed gives the same bits.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/sweep.h>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::simulator {

// Intervals of a ratio whose parts are sums over requests, such as tokens per round or vanilla time over
// speculative time. Requests are resampled, never rounds: rounds of one request resemble each other, and a
// bootstrap that mixes them gives intervals several times too narrow.
//
// The interval is the studentized bootstrap's of the ratio's logarithm (Efron and Tibshirani 1993, §12.5),
// with the linearised standard error of a ratio. On skewed, correlated data it covers 93 to 96 % from 20
// requests on where 95 % are promised; BCa and plain percentiles cover 1 to 4 points less
// (tests/simulator/answers/uncertainty holds it to that). Lengths with a very heavy tail (a log-normal's σ =
// 1) cost it 1 to 2 points.

/// With fewer clusters no interval is given: below, the promised coverage was not reached.
inline constexpr std::size_t min_clusters_for_interval = 10;

/// Addends of one request to the parts of a ratio. Positive.
struct ClusterSums {
  double numerator = 0.0;
  double denominator = 0.0;
};

/// Both are given everywhere, because a few runaway requests can make them differ.
enum class RatioMean : std::uint8_t {
  ratio_of_sums,   ///< weighs requests by their denominators: what a batch of all requests sees
  mean_of_ratios,  ///< weighs requests alike: what a user sees
};

struct BootstrapOptions {
  std::int32_t draws = 2000;
  std::uint64_t seed = 20240301;
};

struct RatioEstimate {
  double value = 0.0;
  std::size_t clusters = 0;
  std::optional<Interval> interval_80, interval_95;
  std::string no_interval_reason;  ///< one line; empty if there are intervals
};

/// Errors: no cluster, a part that is not a positive number, draws outside [200, 1,000,000]. O(draws ·
/// clusters).
[[nodiscard]] Result<RatioEstimate> cluster_bootstrap(std::span<const ClusterSums> clusters, RatioMean mean,
                                                      const BootstrapOptions& options = {});

// One what-if with the best intervals there are: the studentized bootstrap over requests above, to whose
// draws the prices' noise is added, draw by draw.

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

/// Outermost interval of both bounds; absent without one.
[[nodiscard]] std::optional<Interval> outermost_interval_80(const PredictedSpeedup& speedup);
[[nodiscard]] std::optional<Interval> outermost_interval_95(const PredictedSpeedup& speedup);

/// The speedup, of both bounds the lower one.
[[nodiscard]] double slower_bound(const PredictedSpeedup& speedup);

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

  /// Outermost interval of both bounds; absent without one.
  [[nodiscard]] std::optional<Interval> interval_80() const;
  [[nodiscard]] std::optional<Interval> interval_95() const;
};

/// One strategy's speedup and rate, with the same draws of requests and prices.
struct SpeedupAndRate {
  PredictedSpeedup speedup;
  PredictedRate rate;
};

/// Errors and time as predict_speedup().
[[nodiscard]] Result<SpeedupAndRate> predict_speedup_and_rate(std::span<const PassCount> vanilla,
                                                              const SweepSetting& setting,
                                                              const SweepTarget& target,
                                                              const SweepOptions& options = {});

// Where a prediction's spread comes from: how much of the variance of ln(speedup) each source causes alone,
// with all others at their means, and what is left for their interaction. What would be measured next to
// narrow the interval is the source with the largest share.
//
// The same random numbers are used alone and together, so that the interaction is not the noise of the draws.
// It may be negative. Noise that scales all times of a target alike has no share: it cancels.

/// Shares sum to 1, if there is any variance.
struct VarianceBudget {
  double sigma = 0.0;       ///< standard deviation of ln(speedup), everything varying
  double acceptance = 0.0;  ///< which requests there happened to be; other kinds of texts included
  double fit = 0.0;         ///< PriceSources::fit, and so on
  double width = 0.0;
  double transfer = 0.0;
  double interaction = 0.0;  ///< 1 − the others
};

/// The budget of a setting's statistics with the fewest draft tokens. `vanilla` as sweep() wants it. Errors
/// as sweep(), an invalid setting, and too few requests for an interval. O(draws · requests), and four times
/// `draws` price draws.
[[nodiscard]] Result<VarianceBudget> variance_budget(std::span<const PassCount> vanilla,
                                                     const SweepSetting& setting, const SweepTarget& target,
                                                     const SweepOptions& options = {});

}  // namespace draftscope::simulator
