// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

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

}  // namespace
}  // namespace draftscope::simulator
