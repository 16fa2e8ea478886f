// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "answers/uncertainty/confidence_draws.h"

namespace draftscope::simulator {

namespace {

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

}  // namespace

Result<RatioEstimate> cluster_bootstrap(std::span<const ClusterSums> clusters,
                                        const BootstrapOptions& options) {
  return noisy_bootstrap(clusters, {}, options);
}

Result<RatioEstimate> noisy_bootstrap(std::span<const ClusterSums> clusters, std::span<const double> noise,
                                      const BootstrapOptions& options) {
  DRAFTSCOPE_TRY(check(clusters, options));
  const std::vector<double> once(clusters.size(), 1.0);
  RatioEstimate estimate{.value = std::exp(log_ratio(clusters, once).value), .clusters = clusters.size()};
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

}  // namespace draftscope::simulator
