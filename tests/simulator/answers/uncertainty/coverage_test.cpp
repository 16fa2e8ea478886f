// SPDX-License-Identifier: GPL-3.0-or-later
// Tests whether intervals have their nominal coverage. Many recordings are drawn from a population whose true
// ratio is known from a far larger sample. The test fails if intervals exclude it too often, or too rarely.

#include <draftscope/simulator/answers/prediction.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

constexpr int population = 200'000;
constexpr int recordings = 1500;

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
    sums.count(cluster_bootstrap(requests, options).value(), true_ratio());
  }
  EXPECT_TRUE(sums.is_as_promised()) << sums.shares();
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
    coverage.count(cluster_bootstrap(rounds, {.draws = 200, .seed = random()}).value(), true_ratio());
  }
  EXPECT_FALSE(coverage.is_as_promised()) << coverage.shares();
  EXPECT_LT(coverage.of_95, fewer_recordings * 8 / 10);
}

TEST(Coverage, OfSpeedupsIsAsPromisedWithUncertainPrices) {
  const PriceSpread spread{.fit = 0.04, .width = 0.3, .transfer = 0.1, .common = 0.3};
  // The prices of a cost model deviate from the true ones by its stated spread.
  const PriceDraws given = spread_prices(synthetic_prices(), spread, 77);
  const double true_speedup = synthetic_speedup();
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
  EXPECT_TRUE(predicted.is_as_promised()) << predicted.shares();
}

}  // namespace
}  // namespace draftscope::simulator
