// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/confidence_draws.h"

#include <draftscope/base/counter_random.h>
#include <draftscope/base/statistics.h>
#include <draftscope/simulator/answers/prediction.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

#include "prices/passes/normal_draws.h"

namespace draftscope::simulator {

namespace {

/// Minimum standard error as a share. A draw that happens to miss every unusual cluster has almost none, and
/// would decide the interval by itself.
constexpr double min_sigma_share = 0.25;

constexpr std::int32_t min_bootstrap_draws = 200;
constexpr std::int32_t max_bootstrap_draws = 1'000'000;

bool is_positive(double value) {
  return std::isfinite(value) && value > 0.0;
}

Result<void> check(std::span<const ClusterSums> clusters, const BootstrapOptions& options) {
  if (options.draws < min_bootstrap_draws || options.draws > max_bootstrap_draws)
    return fail("bootstrap draws: found {}, expected {} to {}", options.draws, min_bootstrap_draws,
                max_bootstrap_draws);
  if (clusters.empty()) return fail("clusters to resample: found none, expected at least one");
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (!is_positive(clusters[i].numerator))
      return fail("cluster {}: numerator is {}, expected a number above 0", i, clusters[i].numerator);
    if (!is_positive(clusters[i].denominator))
      return fail("cluster {}: denominator is {}, expected a number above 0", i, clusters[i].denominator);
  }
  return {};
}

/// Draws of the value; `noise` is added to its logarithm in each draw, if there is any.
Result<std::vector<double>> value_draws(std::span<const ClusterSums> clusters, std::span<const double> noise,
                                        const BootstrapOptions& options) {
  std::vector<double> draws = confidence_draws(clusters, options);
  // Drawn parameters are bounded below by 0, so the mean draw is more expensive than the mean prices.
  const double mean_noise =
      noise.empty() ? 0.0
                    : std::accumulate(noise.begin(), noise.end(), 0.0) / static_cast<double>(noise.size());
  for (std::size_t i = 0; i < draws.size(); ++i) {
    draws[i] = std::exp(noise.empty() ? draws[i] : draws[i] + noise[i] - mean_noise);
    if (!noise.empty() && !std::isfinite(draws[i]))
      return fail("drawn prices: draw {} gives no positive time, expected positive prices", i);
  }
  return draws;
}

// From 83 published strategies and models on two or more tasks (DEL, CLaSp, SWIFT).
constexpr double published_sigma = 0.062;
constexpr double published_freedom = 2.8;

/// A seed that differs from those of requests (draw_counts) and of prices (fill_normal of the same seed).
constexpr std::uint64_t seed_of_kinds = 0x6B696E6473;

}  // namespace

void draw_counts(std::uint64_t seed, std::uint64_t draw, std::span<double> counts) {
  std::fill(counts.begin(), counts.end(), 0.0);
  CounterRandom random(seed, draw);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[random.index(counts.size())] += 1.0;
}

LogRatio log_ratio(std::span<const ClusterSums> clusters, std::span<const double> counts) {
  double numerator = 0.0;
  double denominator = 0.0;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    numerator += counts[i] * clusters[i].numerator;
    denominator += counts[i] * clusters[i].denominator;
  }
  double squares = 0.0;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const double influence = clusters[i].numerator / numerator - clusters[i].denominator / denominator;
    squares += counts[i] * influence * influence;
  }
  return {std::log(numerator / denominator), std::sqrt(squares)};
}

std::vector<double> confidence_draws(std::span<const ClusterSums> clusters, const BootstrapOptions& options) {
  std::vector<double> counts(clusters.size(), 1.0);
  const LogRatio recorded = log_ratio(clusters, counts);
  std::vector<double> draws(static_cast<std::size_t>(options.draws), recorded.value);
  if (!(recorded.sigma > 0.0)) return draws;
  for (std::size_t draw = 0; draw < draws.size(); ++draw) {
    draw_counts(options.seed, draw, counts);
    const LogRatio drawn = log_ratio(clusters, counts);
    const double sigma = std::max(drawn.sigma, min_sigma_share * recorded.sigma);
    draws[draw] -= (drawn.value - recorded.value) / sigma * recorded.sigma;
  }
  return draws;
}

BothIntervals take_intervals(std::span<double> values) {
  BothIntervals intervals;
  std::size_t first = 0;
  const auto next_quantile = [&](double share) {
    const double value = interpolated_quantile(values, share, first);
    first = rank_below(share, values.size());
    return value;
  };
  intervals.of_95.low = next_quantile(0.025);
  intervals.of_80.low = next_quantile(0.1);
  intervals.of_80.high = next_quantile(0.9);
  intervals.of_95.high = next_quantile(0.975);
  return intervals;
}

Interval interval_of_cases(const RoundsCase& one, const RoundsCase& other, AnswerStatus status) {
  if (status < AnswerStatus::approximate)
    return {std::min(one.interval.low, other.interval.low), std::max(one.interval.high, other.interval.high)};
  const double half = 0.5 * std::log(one.value / other.value);
  const double middle = std::sqrt(one.value * other.value);
  const double down = std::log(std::max(one.value / one.interval.low, other.value / other.interval.low));
  const double up = std::log(std::max(one.interval.high / one.value, other.interval.high / other.value));
  return {middle * std::exp(-std::hypot(half, down)), middle * std::exp(std::hypot(half, up))};
}

Result<RatioEstimate> cluster_bootstrap(std::span<const ClusterSums> clusters,
                                        const BootstrapOptions& options) {
  return noisy_bootstrap(clusters, {}, options);
}

Result<RatioEstimate> noisy_bootstrap(std::span<const ClusterSums> clusters, std::span<const double> noise,
                                      const BootstrapOptions& options) {
  DRAFTSCOPE_TRY(check(clusters, options));
  const std::vector<double> once(clusters.size(), 1.0);
  std::vector<ClusterSums> ratios;
  for (const ClusterSums& cluster : clusters)
    ratios.push_back({cluster.numerator / cluster.denominator, 1.0});
  RatioEstimate estimate{.value = std::exp(log_ratio(clusters, once).value),
                         .cluster_mean = std::exp(log_ratio(ratios, once).value),
                         .clusters = clusters.size()};
  if (clusters.size() < min_clusters_for_interval) {
    estimate.no_interval_reason = fmt::format("{} request{}, an interval needs at least {}", clusters.size(),
                                              clusters.size() == 1 ? "" : "s", min_clusters_for_interval);
    return estimate;
  }
  DRAFTSCOPE_TRY_ASSIGN(std::vector<double> draws, value_draws(clusters, noise, options));
  const BothIntervals intervals = take_intervals(draws);
  estimate.interval_80 = intervals.of_80;
  estimate.interval_95 = intervals.of_95;
  return estimate;
}

TextSpread spread_between_kinds(std::span<const ClusterSums> requests, std::span<const std::string> kinds) {
  std::map<std::string, ClusterSums> by_kind;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ClusterSums& sums = by_kind[kinds[i]];
    sums.numerator += requests[i].numerator;
    sums.denominator += requests[i].denominator;
  }
  const auto count = static_cast<double>(by_kind.size());
  double mean = 0.0;
  for (const auto& [kind, sums] : by_kind) mean += std::log(sums.numerator / sums.denominator) / count;
  double squares = published_freedom * published_sigma * published_sigma;
  for (const auto& [kind, sums] : by_kind) {
    const double deviation = std::log(sums.numerator / sums.denominator) - mean;
    squares += deviation * deviation;
  }
  const double freedom = published_freedom + count - 1.0;
  return {.sigma = std::sqrt(squares / freedom), .freedom = freedom, .kinds = by_kind.size()};
}

std::vector<double> kind_deviations(const TextSpread& spread, const BootstrapOptions& options) {
  // The mean of the recorded kinds has an uncertainty that follows from their number.
  const double sigma = std::hypot(spread.sigma * std::sqrt(1.0 + 1.0 / static_cast<double>(spread.kinds)),
                                  spread.stated_error);
  std::vector<double> deviations(static_cast<std::size_t>(options.draws));
  fill_normal(options.seed, seed_of_kinds, deviations);
  for (double& deviation : deviations) deviation = sigma * student_quantile(deviation, spread.freedom);
  return deviations;
}

}  // namespace draftscope::simulator
