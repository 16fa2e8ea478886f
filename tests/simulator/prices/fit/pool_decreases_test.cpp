// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/robust_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace draftscope::simulator {
namespace {

TEST(PoolDecreases, LeavesWhatDoesNotDecrease) {
  std::vector<double> values{1.0, 1.0, 2.0, 5.0};
  const std::vector<double> before = values;
  pool_decreases(values, std::vector<double>(4, 0.1));
  EXPECT_EQ(values, before);
}

TEST(PoolDecreases, WeighsNeighboursByTheirPrecision) {
  std::vector<double> values{1.0, 3.0, 2.0, 4.0};
  pool_decreases(values, std::vector<double>{1.0, 1.0, 0.5, 1.0});
  EXPECT_DOUBLE_EQ(values[1], (3.0 + 4.0 * 2.0) / 5.0);
  EXPECT_DOUBLE_EQ(values[2], values[1]);
  EXPECT_EQ(values.front(), 1.0);
  EXPECT_EQ(values.back(), 4.0);
}

TEST(PoolDecreases, KeepsADecreaseThatIsProven) {
  std::vector<double> values{1.3, 0.8, 0.9};
  const std::vector<double> before = values;
  pool_decreases(values, std::vector<double>(3, 0.01));
  EXPECT_EQ(values, before);
}

TEST(PoolDecreases, IsTheNearestNonDecreasingSequence) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::vector<double> values(6);
    // The deviations are so large that no decrease is proven.
    const std::vector<double> deviations(values.size(), 10.0);
    for (double& value : values) value = uniform(random);
    std::vector<double> pooled = values;
    pool_decreases(pooled, deviations);
    ASSERT_TRUE(std::is_sorted(pooled.begin(), pooled.end()));
    const auto distance = [&](const std::vector<double>& to) {
      double squares = 0.0;
      for (std::size_t i = 0; i < to.size(); ++i) squares += (to[i] - values[i]) * (to[i] - values[i]);
      return squares;
    };
    for (int other = 0; other < 50; ++other) {
      std::vector<double> moved = pooled;
      for (double& value : moved) value += 0.1 * (uniform(random) - 0.5);
      std::sort(moved.begin(), moved.end());
      EXPECT_GE(distance(moved), distance(pooled) - 1e-12);
    }
  }
}

}  // namespace
}  // namespace draftscope::simulator
