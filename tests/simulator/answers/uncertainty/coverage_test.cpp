// SPDX-License-Identifier: GPL-3.0-or-later
// Tests whether intervals have their nominal coverage. Many recordings are drawn from a population whose true
// ratio is known from a far larger sample. The test fails if intervals exclude it too often, or too rarely.

#include <draftscope/simulator/answers/prediction.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

constexpr int population = 200'000;
constexpr int recordings = 1500;

struct Coverage {
  int of_80 = 0;
  int of_95 = 0;

  void count(const Result<RatioEstimate>& estimate, double truth) {
    of_80 += holds(*estimate->interval_80, truth) ? 1 : 0;
    of_95 += holds(*estimate->interval_95, truth) ? 1 : 0;
  }
  static bool holds(const Interval& interval, double truth) {
    return interval.low <= truth && truth <= interval.high;
  }
};

/// Whether coverage is within 93–97 % and 77–83 % of `trials`.
bool is_calibrated(const Coverage& coverage, int trials) {
  const double share_80 = static_cast<double>(coverage.of_80) / trials;
  const double share_95 = static_cast<double>(coverage.of_95) / trials;
  return share_80 >= 0.77 && share_80 <= 0.83 && share_95 >= 0.93 && share_95 <= 0.97;
}

testing::Message shares(const Coverage& coverage, int trials) {
  return testing::Message() << "80 %: " << 100.0 * coverage.of_80 / trials
                            << " %, 95 %: " << 100.0 * coverage.of_95 / trials << " %";
}

double true_ratio() {
  static const double value = [] {
    std::mt19937_64 random(1);
    ClusterSums sums;
    for (int i = 0; i < population; ++i) {
      const ClusterSums request = sum_of(synthetic_rounds(random));
      sums.numerator += request.numerator;
      sums.denominator += request.denominator;
    }
    return sums.numerator / sums.denominator;
  }();
  return value;
}

class CoverageOfRequests : public testing::TestWithParam<std::size_t> {};

TEST_P(CoverageOfRequests, IsAsPromised) {
  std::mt19937_64 random(100 + GetParam());
  Coverage sums;
  for (int recording = 0; recording < recordings; ++recording) {
    std::vector<ClusterSums> requests;
    for (std::size_t i = 0; i < GetParam(); ++i) requests.push_back(sum_of(synthetic_rounds(random)));
    const BootstrapOptions options{.draws = 1000, .seed = random()};
    sums.count(cluster_bootstrap(requests, options), true_ratio());
  }
  EXPECT_TRUE(is_calibrated(sums, recordings)) << shares(sums, recordings);
}

INSTANTIATE_TEST_SUITE_P(Requests, CoverageOfRequests, testing::Values(20, 40, 80));

TEST(Coverage, OfANaiveBootstrapOverRoundsIsNotAsPromised) {
  std::mt19937_64 random(7);
  Coverage coverage;
  constexpr int fewer_recordings = 300;
  for (int recording = 0; recording < fewer_recordings; ++recording) {
    std::vector<ClusterSums> rounds;
    for (int i = 0; i < 40; ++i) {
      const std::vector<ClusterSums> request = synthetic_rounds(random);
      rounds.insert(rounds.end(), request.begin(), request.end());
    }
    coverage.count(cluster_bootstrap(rounds, {.draws = 200, .seed = random()}), true_ratio());
  }
  EXPECT_FALSE(is_calibrated(coverage, fewer_recordings)) << shares(coverage, fewer_recordings);
  EXPECT_LT(coverage.of_95, fewer_recordings * 8 / 10);
}

/// Speedup of the whole population at given prices; times are linear in sums over it.
struct Population {
  RoundStatistics statistics;
  PassCount vanilla;
};

Population whole_population() {
  std::mt19937_64 random(2);
  Population whole;
  for (int i = 0; i < population / 4; ++i) {
    const RoundStatistics request = statistics_of(synthetic_rounds(random));
    add(whole.statistics, request);
    const PassCount steps = vanilla_steps(request.tokens, synthetic_prompt);
    whole.vanilla.passes += steps.passes;
    whole.vanilla.context += steps.context;
  }
  return whole;
}

double speedup_of(const Population& whole, const Prices& prices) {
  const RoundStatistics vanilla{
      .tokens = whole.vanilla.passes, .rounds = whole.vanilla.passes, .target_steps = whole.vanilla};
  return time_ns(vanilla, prices) / time_ns(whole.statistics, prices);
}

TEST(Coverage, OfSpeedupsIsAsPromisedWithUncertainPrices) {
  const Population whole = whole_population();
  const PriceSpread spread{.fit = 0.04, .width = 0.3, .transfer = 0.1, .common = 0.3};
  // The prices of a cost model deviate from the true ones by its stated spread.
  const PriceDraws given = spread_prices(synthetic_prices(), spread, 77);
  const double true_speedup = speedup_of(whole, synthetic_prices());
  constexpr int trials = 1000;
  Coverage predicted;
  for (int trial = 0; trial < trials; ++trial) {
    const SyntheticText text = synthetic_text(40, 1000 + static_cast<std::uint64_t>(trial));
    PricedMachine target{.name = "given", .prices = given(static_cast<std::uint64_t>(trial), {})};
    target.draws = spread_prices(target.prices, spread, 5000 + static_cast<std::uint64_t>(trial));
    const PredictionOptions options{.draws = 500, .seed = static_cast<std::uint64_t>(trial), .threads = 1};
    const auto one = predict_speedup(text.vanilla, text.setting, target, options);
    ASSERT_TRUE(one) << one.error().message;
    predicted.count(one->min_drafted, true_speedup);
  }
  EXPECT_TRUE(is_calibrated(predicted, trials)) << "prediction: " << shares(predicted, trials);
}

}  // namespace
}  // namespace draftscope::simulator
