// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/text_spread.h"

#include <cmath>
#include <cstddef>
#include <map>

#include "answers/uncertainty/confidence_draws.h"
#include "prices/passes/normal_draws.h"

namespace draftscope::simulator {

namespace {

// From 83 published strategies and models on two or more tasks (DEL, CLaSp, SWIFT).
constexpr double published_sigma = 0.062;
constexpr double published_freedom = 2.8;

/// A seed that differs from those of requests (draw_counts) and of prices (fill_normal of the same seed).
constexpr std::uint64_t seed_of_kinds = 0x6B696E6473;

}  // namespace

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
