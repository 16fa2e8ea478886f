// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The studentized bootstrap as draws from a confidence distribution. Its quantiles are the interval's ends,
// and independent noise (of prices) can be added to each draw.

#include <draftscope/simulator/answers/prediction.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// Draws how often each cluster is taken; the counts sum to counts.size(). A pure function of (seed, draw).
void draw_counts(std::uint64_t seed, std::uint64_t draw, std::span<double> counts);

/// ln of the ratio of sums, and its standard error by linearisation.
struct LogRatio {
  double value = 0.0;
  double sigma = 0.0;
};
[[nodiscard]] LogRatio log_ratio(std::span<const ClusterSums> clusters, std::span<const double> counts);

/// ln(ratio) − t · σ for the studentized deviation t of each draw. All parts must be positive.
[[nodiscard]] std::vector<double> confidence_draws(std::span<const ClusterSums> clusters,
                                                   const BootstrapOptions& options);

struct BothIntervals {
  Interval of_80, of_95;
};

/// Takes both intervals and reorders the values. There must be at least two values.
[[nodiscard]] BothIntervals take_intervals(std::span<double> values);

/// A case of a setting's rounds, with its interval.
struct RoundsCase {
  double value = 0.0;
  Interval interval;
};

/// Interval of both cases. Those of bounded rounds enclose the truth wherever it is, so that it is the hull.
/// Those of approximate rounds are the ends of 95 % of what a model of the rounds allows: half their distance
/// and each side's larger other error are independent, and add up by squares of logarithms. An interval of
/// 80 % takes the whole distance, too, so that it includes both values. All must be positive.
[[nodiscard]] Interval interval_of_cases(const RoundsCase& one, const RoundsCase& other, AnswerStatus status);

/// cluster_bootstrap() with uncertain prices: `noise` is added to ln(value) draw by draw, around its mean;
/// without noise, prices are certain. Errors: those of cluster_bootstrap(), a draw that is NaN.
[[nodiscard]] Result<RatioEstimate> noisy_bootstrap(std::span<const ClusterSums> clusters,
                                                    std::span<const double> noise,
                                                    const BootstrapOptions& options);

// Spread of speedups of other kinds of texts around the recorded ones: the mean of the recorded kinds, where
// a kind is a category of prompts, plus a new kind's deviation.
//
// A kind's ln(speedup) is assumed to be normal around the strategy's mean, with a variance that differs
// between strategies: scaled inverse χ², fitted to published speedups by task (bench/simulator/kind_spread).
// The recorded kinds update it (Gelman et al., Bayesian Data Analysis, §2.6), so that a new kind's
// ln(speedup) has Student's t distribution.

/// Spread from these requests: vanilla time over time, and the kind of each. `kinds` must have the size of
/// `requests`.
[[nodiscard]] TextSpread spread_between_kinds(std::span<const ClusterSums> requests,
                                              std::span<const std::string> kinds);

/// [draw]: deviation of ln(speedup) for a kind that was not recorded. A pure function of the spread, `draws`
/// and `seed`.
[[nodiscard]] std::vector<double> kind_deviations(const TextSpread& spread, const BootstrapOptions& options);

}  // namespace draftscope::simulator
