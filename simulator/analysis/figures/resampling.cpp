// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/figures/resampling.h"

#include <draftscope/base/statistics.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace draftscope::simulator {

namespace {

constexpr std::size_t exact_up_to = 200;

/// Twice the mean rank of each magnitude, so that tied ranks stay integers.
std::vector<std::size_t> doubled_ranks(const std::vector<double>& sorted_magnitudes) {
  std::vector<std::size_t> ranks(sorted_magnitudes.size());
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && sorted_magnitudes[last + 1] == sorted_magnitudes[first]) ++last;
    for (std::size_t i = first; i <= last; ++i) ranks[i] = (first + 1) + (last + 1);
    first = last + 1;
  }
  return ranks;
}

/// P(sum of the positive doubled ranks ≤ `statistic`) when every sign is a fair coin.
double exact_lower_tail(const std::vector<std::size_t>& ranks, std::size_t statistic) {
  std::size_t largest = 0;
  for (const std::size_t rank : ranks) largest += rank;
  std::vector<double> probability(largest + 1, 0.0);
  probability[0] = 1.0;
  std::size_t reached = 0;
  for (const std::size_t rank : ranks) {
    reached += rank;
    for (std::size_t sum = reached + 1; sum-- > 0;)
      probability[sum] = 0.5 * (probability[sum] + (sum >= rank ? probability[sum - rank] : 0.0));
  }
  double tail = 0.0;
  for (std::size_t sum = 0; sum <= statistic; ++sum) tail += probability[sum];
  return tail;
}

/// P(sum of the positive doubled ranks ≤ `statistic`) by the normal approximation. Doubled ranks double the
/// deviation: the variance of a fair ±rank sum is Σ rank² / 4, ties included.
double normal_lower_tail(const std::vector<std::size_t>& ranks, std::size_t statistic) {
  double mean = 0.0;
  double variance = 0.0;
  for (const std::size_t rank : ranks) {
    const auto value = static_cast<double>(rank);
    mean += value / 2.0;
    variance += value * value / 4.0;
  }
  const double continuity = 1.0;  // Half of the statistic's step, in doubled ranks.
  return 0.5 * std::erfc((mean - static_cast<double>(statistic) - continuity) / std::sqrt(2.0 * variance));
}

}  // namespace

Interval bootstrap_95(std::size_t count, const std::function<double(std::span<const std::size_t>)>& statistic,
                      int resamples, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> drawn(count);
  std::vector<double> values(static_cast<std::size_t>(resamples));
  for (double& value : values) {
    // This is a plain remainder: std::uniform_int_distribution differs between standard libraries, and the
    // bias is below count / 2^64.
    for (std::size_t& index : drawn) index = random() % count;
    value = statistic(drawn);
  }
  return {interpolated_quantile(values, 0.025), interpolated_quantile(values, 0.975)};
}

double signed_rank_p_value(std::span<const double> differences) {
  std::vector<double> nonzero;
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(nonzero),
               [](double difference) { return difference != 0.0; });
  if (nonzero.empty()) return 1.0;
  std::sort(nonzero.begin(), nonzero.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  std::vector<double> magnitudes(nonzero.size());
  std::transform(nonzero.begin(), nonzero.end(), magnitudes.begin(), [](double x) { return std::abs(x); });
  const std::vector<std::size_t> ranks = doubled_ranks(magnitudes);

  std::size_t positive = 0;
  std::size_t negative = 0;
  for (std::size_t i = 0; i < nonzero.size(); ++i) (nonzero[i] > 0.0 ? positive : negative) += ranks[i];
  const std::size_t statistic = std::min(positive, negative);
  const double tail = nonzero.size() <= exact_up_to ? exact_lower_tail(ranks, statistic)
                                                    : normal_lower_tail(ranks, statistic);
  return std::min(1.0, 2.0 * tail);
}

}  // namespace draftscope::simulator
