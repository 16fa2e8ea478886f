// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "answers/uncertainty/confidence_draws.h"
#include "synthetic_requests.h"

namespace draftscope::simulator {

namespace {

std::vector<ClusterSums> some_requests(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ClusterSums> requests;
  for (std::size_t i = 0; i < count; ++i) requests.push_back(sum_of(synthetic_rounds(random)));
  return requests;
}

TEST(ClusterBootstrap, GivesOneRequestItsOwnRatioAndNoInterval) {
  const std::vector<ClusterSums> one{{.numerator = 21.0, .denominator = 6.0}};
  const auto estimate = cluster_bootstrap(one);
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->value, 3.5);
  EXPECT_FALSE(estimate->interval_80.has_value());
  EXPECT_FALSE(estimate->interval_95.has_value());
  EXPECT_EQ(estimate->no_interval_reason, "1 request, an interval needs at least 10");
}

TEST(ClusterBootstrap, HasNoWidthWhereRequestsAreAlike) {
  const std::vector<ClusterSums> alike(30, {.numerator = 7.0, .denominator = 2.0});
  const auto estimate = cluster_bootstrap(alike);
  ASSERT_TRUE(estimate && estimate->interval_95);
  EXPECT_NEAR(estimate->interval_95->low, 3.5, 1e-12);
  EXPECT_NEAR(estimate->interval_95->high, 3.5, 1e-12);
}

TEST(ClusterBootstrap, StaysFiniteWhenOneRequestAloneDiffers) {
  std::vector<ClusterSums> requests(12, {.numerator = 7.0, .denominator = 2.0});
  requests[5] = {.numerator = 90.0, .denominator = 20.0};
  const auto estimate = cluster_bootstrap(requests);
  ASSERT_TRUE(estimate && estimate->interval_95);
  EXPECT_GT(estimate->interval_95->low, 0.5 * estimate->value);
  EXPECT_LT(estimate->interval_95->high, 2.0 * estimate->value);
}

TEST(ClusterBootstrap, NestsItsIntervalsAroundTheValue) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto estimate = cluster_bootstrap(some_requests(10 + 5 * seed, seed));
    ASSERT_TRUE(estimate && estimate->interval_95);
    EXPECT_LT(estimate->interval_95->low, estimate->interval_80->low);
    EXPECT_LT(estimate->interval_80->low, estimate->value);
    EXPECT_LT(estimate->value, estimate->interval_80->high);
    EXPECT_LT(estimate->interval_80->high, estimate->interval_95->high);
  }
}

TEST(ClusterBootstrap, ScalesWithTheUnits) {
  std::vector<ClusterSums> requests = some_requests(25, 4);
  const auto before = cluster_bootstrap(requests);
  for (ClusterSums& request : requests) request = {request.numerator * 8.0, request.denominator * 0.25};
  const auto after = cluster_bootstrap(requests);
  EXPECT_NEAR(after->value, 32.0 * before->value, 1e-9);
  EXPECT_NEAR(after->interval_95->low, 32.0 * before->interval_95->low, 1e-9);
  EXPECT_NEAR(after->interval_95->high, 32.0 * before->interval_95->high, 1e-9);
}

TEST(ClusterBootstrap, IsReproducedByItsSeed) {
  const std::vector<ClusterSums> requests = some_requests(25, 9);
  const auto a = cluster_bootstrap(requests, {.draws = 500, .seed = 1});
  const auto b = cluster_bootstrap(requests, {.draws = 500, .seed = 1});
  const auto c = cluster_bootstrap(requests, {.draws = 500, .seed = 2});
  EXPECT_EQ(a->interval_95->low, b->interval_95->low);
  EXPECT_NE(a->interval_95->low, c->interval_95->low);
}

TEST(ClusterBootstrap, RefusesWhatIsNoRatio) {
  const auto message = [](ClusterSums cluster) {
    const std::vector<ClusterSums> clusters{{1.0, 1.0}, cluster};
    const auto estimate = cluster_bootstrap(clusters);
    return estimate ? std::string() : estimate.error().message;
  };
  EXPECT_EQ(message({1.0, 0.0}), "cluster 1: denominator is 0, expected a number above 0");
  EXPECT_EQ(message({-2.0, 1.0}), "cluster 1: numerator is -2, expected a number above 0");
  EXPECT_THAT(message({std::numeric_limits<double>::quiet_NaN(), 1.0}), testing::HasSubstr("numerator"));
  EXPECT_FALSE(cluster_bootstrap({}));
  EXPECT_FALSE(cluster_bootstrap(some_requests(20, 1), {.draws = 10}));
}

/// Spread of ten requests of each kind with exactly these speedups.
TextSpread spread_of(const std::vector<double>& speedups) {
  std::vector<ClusterSums> requests;
  std::vector<std::string> kinds;
  for (std::size_t kind = 0; kind < speedups.size(); ++kind)
    for (int i = 1; i <= 10; ++i) {
      requests.push_back({speedups[kind] * i, 1.0 * i});
      kinds.push_back(std::to_string(kind));
    }
  return spread_between_kinds(requests, kinds);
}

TEST(TextSpread, IsThePublishedOneWhereOneKindWasRecorded) {
  const TextSpread one = spread_of({1.7});
  EXPECT_EQ(one.kinds, 1U);
  EXPECT_NEAR(one.sigma, 0.062, 1e-12);
  EXPECT_NEAR(one.freedom, 2.8, 1e-12);
}

TEST(TextSpread, LearnsFromTheRecordedKinds) {
  const TextSpread alike = spread_of({1.5, 1.5, 1.5, 1.5, 1.5, 1.5});
  const TextSpread unlike = spread_of({1.0, 2.0, 1.2, 1.8, 0.9, 2.2});
  EXPECT_LT(alike.sigma, 0.062);
  EXPECT_GT(unlike.sigma, 0.2);
  EXPECT_EQ(alike.freedom, unlike.freedom);
  EXPECT_GT(alike.freedom, spread_of({1.5}).freedom);
}

/// If kinds follow the prior, the nominal intervals have their nominal coverage of new ones.
TEST(TextSpread, HoldsKindsThatWereNotRecorded) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> chi_squared(2.8);
  for (const int recorded : {1, 2, 5}) {
    int held = 0;
    constexpr int repeats = 1500;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const double sigma = 0.062 * std::sqrt(2.8 / chi_squared(random));
      std::vector<double> speedups;
      double mean = 0.0;
      for (int kind = 0; kind < recorded; ++kind) {
        speedups.push_back(std::exp(sigma * normal(random)));
        mean += std::log(speedups.back()) / recorded;
      }
      std::vector<double> draws =
          kind_deviations(spread_of(speedups), {.draws = 400, .seed = static_cast<std::uint64_t>(repeat)});
      std::sort(draws.begin(), draws.end());
      const double asked = sigma * normal(random) - mean;
      if (draws[10] <= asked && asked <= draws[389]) ++held;
    }
    EXPECT_NEAR(static_cast<double>(held) / repeats, 0.95, 0.025) << recorded;
  }
}

double sum_of_shares(const VarianceBudget& budget) {
  return budget.acceptance + budget.fit + budget.width + budget.transfer + budget.interaction;
}

TEST(TextSpread, WidensPredictionsAndTheirBudget) {
  const SyntheticText text = synthetic_text(40, 9);
  const PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  const PredictionOptions options{.draws = 1000, .seed = 3};
  PredictionOptions others = options;
  others.other_texts = TextSpread{.sigma = 0.2, .freedom = 5.0, .kinds = 3};
  const auto same_budget = variance_budget(text.vanilla, text.setting, target, options);
  const auto other_budget = variance_budget(text.vanilla, text.setting, target, others);
  ASSERT_TRUE(same_budget && other_budget);
  const auto log_width = [](const Interval& interval) { return std::log(interval.high / interval.low); };
  // Student's 97.5 % quantile for five degrees of freedom is 2.57.
  const double added = 2.0 * 2.57 * 0.2 * std::sqrt(1.0 + 1.0 / 3.0);
  for (const auto& predict : {predict_speedup, predict_rate}) {
    const auto same = predict(text.vanilla, text.setting, target, options);
    const auto other = predict(text.vanilla, text.setting, target, others);
    ASSERT_TRUE(same && other);
    EXPECT_EQ(other->min_drafted.value, same->min_drafted.value);
    const double alone = log_width(*same->interval_95());
    EXPECT_NEAR(log_width(*other->interval_95()), std::hypot(alone, added), 0.15 * added);
  }
  EXPECT_GT(other_budget->sigma, 1.5 * same_budget->sigma);
  EXPECT_NEAR(sum_of_shares(*other_budget), 1.0, 1e-9);
}

PricedMachine target_with(const PriceSpread& spread) {
  return {.name = "this machine",
          .prices = synthetic_prices(),
          .draws = spread_prices(synthetic_prices(), spread, 3)};
}

TEST(VarianceBudget, AddsUpToAll) {
  const SyntheticText text = synthetic_text(30, 1);
  const auto budget = variance_budget(
      text.vanilla, text.setting, target_with({.fit = 0.05, .width = 0.4, .transfer = 0.3, .common = 0.3}));
  ASSERT_TRUE(budget) << budget.error().message;
  EXPECT_NEAR(sum_of_shares(*budget), 1.0, 1e-12);
  for (const double share : {budget->acceptance, budget->fit, budget->width, budget->transfer})
    EXPECT_GT(share, 0.0);
  EXPECT_LT(std::abs(budget->interaction), 0.15) << "sources are independent";
}

TEST(VarianceBudget, GivesAllToTheOnlySource) {
  const SyntheticText text = synthetic_text(30, 2);
  const auto acceptance =
      variance_budget(text.vanilla, text.setting, {.name = "certain", .prices = synthetic_prices()});
  ASSERT_TRUE(acceptance);
  EXPECT_NEAR(acceptance->acceptance, 1.0, 1e-12);
  EXPECT_NEAR(acceptance->fit + acceptance->width + acceptance->transfer, 0.0, 1e-12);

  SyntheticText alike = text;
  std::fill(alike.setting.min_drafted.begin(), alike.setting.min_drafted.end(), text.setting.min_drafted[0]);
  std::fill(alike.vanilla.begin(), alike.vanilla.end(), text.vanilla[0]);
  const auto width = variance_budget(alike.vanilla, alike.setting, target_with({.width = 0.5}));
  ASSERT_TRUE(width);
  EXPECT_NEAR(width->width, 1.0, 1e-9);
  EXPECT_GT(width->sigma, 0.0);
}

TEST(VarianceBudget, GivesNothingToNoiseThatIsCommonToBothRuns) {
  const SyntheticText text = synthetic_text(30, 3);
  const auto budget = variance_budget(text.vanilla, text.setting, target_with({.common = 0.5}));
  ASSERT_TRUE(budget);
  EXPECT_NEAR(budget->transfer, 0.0, 1e-12);
  EXPECT_NEAR(budget->acceptance, 1.0, 1e-9);
}

TEST(VarianceBudget, HasNoSharesWhereNothingVaries) {
  SyntheticText alike = synthetic_text(12, 4);
  std::fill(alike.setting.min_drafted.begin(), alike.setting.min_drafted.end(), alike.setting.min_drafted[0]);
  std::fill(alike.vanilla.begin(), alike.vanilla.end(), alike.vanilla[0]);
  const auto budget =
      variance_budget(alike.vanilla, alike.setting, {.name = "certain", .prices = synthetic_prices()});
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->sigma, 0.0);
  EXPECT_EQ(sum_of_shares(*budget), 0.0);
}

TEST(VarianceBudget, NeedsRequests) {
  const SyntheticText text = synthetic_text(9, 5);
  const auto budget = variance_budget(text.vanilla, text.setting, target_with({.fit = 0.1}));
  ASSERT_FALSE(budget);
  EXPECT_EQ(budget.error().message, "variance budget: found 9 requests, expected at least 10");
}

}  // namespace

}  // namespace draftscope::simulator
