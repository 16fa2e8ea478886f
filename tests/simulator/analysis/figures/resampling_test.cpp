// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "analysis/figures/resampling.h"

namespace draftscope::simulator {
namespace {

/// P value by definition: of all assignments of signs, the share at least as extreme.
double enumerate_signs(const std::vector<double>& differences) {
  std::vector<double> magnitudes;
  for (const double difference : differences)
    if (difference != 0.0) magnitudes.push_back(std::abs(difference));
  if (magnitudes.empty()) return 1.0;
  const auto rank = [&](double magnitude) {
    const auto below =
        std::count_if(magnitudes.begin(), magnitudes.end(), [&](double m) { return m < magnitude; });
    const auto equal = std::count(magnitudes.begin(), magnitudes.end(), magnitude);
    return static_cast<double>(below) + (static_cast<double>(equal) + 1.0) / 2.0;
  };
  double total = 0.0;
  double positive = 0.0;
  for (const double difference : differences) {
    if (difference == 0.0) continue;
    total += rank(std::abs(difference));
    if (difference > 0.0) positive += rank(difference);
  }
  const double deviation = std::abs(positive - total / 2.0);
  int extreme = 0;
  const auto assignments = 1U << magnitudes.size();
  for (unsigned signs = 0; signs < assignments; ++signs) {
    double sum = 0.0;
    for (std::size_t i = 0; i < magnitudes.size(); ++i)
      if ((signs >> i & 1U) != 0) sum += rank(magnitudes[i]);
    if (std::abs(sum - total / 2.0) >= deviation - 1e-9) ++extreme;
  }
  return static_cast<double>(extreme) / assignments;
}

TEST(SignedRank, EqualsTheShareOfSignAssignmentsAtLeastAsExtreme) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<double> differences(1 + random() % 12);
    for (double& difference : differences)
      difference = static_cast<double>(random() % 13) - 5.0;  // The differences include ties and zeros.
    EXPECT_NEAR(signed_rank_p_value(differences), enumerate_signs(differences), 1e-12);
  }
}

TEST(SignedRank, IsContinuousWhereTheNormalApproximationTakesOver) {
  std::mt19937 random(3);
  std::vector<double> differences;
  for (int i = 0; i < 200; ++i) differences.push_back(static_cast<double>(random() % 2000) - 900.0 + 0.5);
  const double exact = signed_rank_p_value(differences);
  differences.push_back(-1e-9);  // This adds one more, of the lowest rank.
  EXPECT_NEAR(signed_rank_p_value(differences), exact, 0.01);
}

TEST(SignedRank, DoesNotSeeADifferenceInNothing) {
  EXPECT_EQ(signed_rank_p_value({}), 1.0);
  EXPECT_EQ(signed_rank_p_value(std::vector<double>{0.0, 0.0}), 1.0);
}

TEST(Bootstrap, CoversTheMeanOfANormalSampleAboutNineteenTimesInTwenty) {
  std::mt19937_64 random(17);
  std::normal_distribution<double> normal(3.0, 1.0);
  int covered = 0;
  constexpr int trials = 300;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> sample(40);
    for (double& value : sample) value = normal(random);
    const Interval quantiles = bootstrap_95(
        sample.size(),
        [&](std::span<const std::size_t> drawn) {
          double sum = 0.0;
          for (const std::size_t i : drawn) sum += sample[i];
          return sum / static_cast<double>(drawn.size());
        },
        400);
    if (quantiles.low <= 3.0 && 3.0 <= quantiles.high) ++covered;
  }
  EXPECT_GT(covered, trials * 0.89);
  EXPECT_LT(covered, trials * 0.98);
}

TEST(Bootstrap, GivesTheSameAnswerTwice) {
  const auto statistic = [](std::span<const std::size_t> drawn) { return static_cast<double>(drawn[0]); };
  const Interval first = bootstrap_95(50, statistic);
  const Interval second = bootstrap_95(50, statistic);
  EXPECT_EQ(first.low, second.low);
  EXPECT_EQ(first.high, second.high);
}

}  // namespace
}  // namespace draftscope::simulator
