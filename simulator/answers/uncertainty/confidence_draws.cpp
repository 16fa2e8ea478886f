// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/confidence_draws.h"

#include <draftscope/base/counter_random.h>
#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

namespace {

/// A draw that happens to miss every unlike cluster has hardly a standard error, and would decide the
/// interval alone.
constexpr double min_sigma_share = 0.25;

/// By linear interpolation between order statistics. What lies before `from` is not above what lies behind.
double select_quantile(std::span<double> values, double share, std::size_t& from) {
  const double rank = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin() + static_cast<std::ptrdiff_t>(from), place, values.end());
  from = below;
  if (below + 1 == values.size()) return *place;
  const double above = *std::min_element(place + 1, values.end());
  return *place + (rank - static_cast<double>(below)) * (above - *place);
}

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

BothIntervals take_intervals(std::span<double> values, const IntervalLevels& levels) {
  BothIntervals intervals;
  std::size_t from = 0;
  intervals.of_95.low = select_quantile(values, levels.low_95, from);
  intervals.of_80.low = select_quantile(values, levels.low_80, from);
  intervals.of_80.high = select_quantile(values, levels.high_80, from);
  intervals.of_95.high = select_quantile(values, levels.high_95, from);
  return intervals;
}

}  // namespace draftscope::simulator
