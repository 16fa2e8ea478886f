// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/confidence_draws.h"

#include <draftscope/base/counter_random.h>
#include <draftscope/base/statistics.h>
#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

namespace {

/// Minimum standard error as a share. A draw that happens to miss every unusual cluster has almost none, and
/// would decide the interval by itself.
constexpr double min_sigma_share = 0.25;

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

}  // namespace draftscope::simulator
