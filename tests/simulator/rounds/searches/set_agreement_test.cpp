// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/set_agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace draftscope::simulator {
namespace {

constexpr std::size_t sublayers = 24;

/// Cost of a sublayer whose shares multiply: MLPs cost twice as much as attentions, and one of them much
/// more.
double planted_cost(std::size_t sublayer) {
  if (sublayer == 5) return 0.2;
  return sublayer % 2 == 0 ? 0.02 : 0.04;
}

double planted_agreement(const SkippedSublayers& skipped) {
  double cost = 0.0;
  for (std::size_t i = 0; i < skipped.size(); ++i) cost += skipped[i] ? planted_cost(i) : 0.0;
  return std::exp(-cost);
}

SkippedSublayers random_set(std::size_t size, std::mt19937& random) {
  SkippedSublayers skipped(sublayers);
  for (std::size_t i = 0; i < size; ++i) skipped[random() % sublayers] = true;
  return skipped;
}

std::vector<TriedSet> tried_sets(std::size_t count, int judged, std::mt19937& random) {
  std::vector<TriedSet> tried;
  for (std::size_t i = 0; i < count; ++i) {
    TriedSet set{.skipped = random_set(4 + random() % 8, random), .judged = static_cast<double>(judged)};
    std::binomial_distribution<int> right(judged, planted_agreement(set.skipped));
    set.right = right(random);
    tried.push_back(set);
  }
  return tried;
}

TEST(SetAgreement, BoundsSetsThatNobodyTried) {
  std::mt19937 random(5);
  int inside = 0;
  int all = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto agreement = SetAgreement::fit(tried_sets(60, 32, random));
    ASSERT_TRUE(agreement);
    for (int i = 0; i < 20; ++i) {
      const SkippedSublayers asked = random_set(1 + random() % 14, random);
      const ExpectedAgreement expected = agreement->of(asked);
      EXPECT_LE(expected.low, expected.mean);
      EXPECT_LE(expected.mean, expected.high);
      const double truth = planted_agreement(asked);
      inside += expected.low <= truth && truth <= expected.high ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(inside, all * 93 / 100);
}

TEST(SetAgreement, LearnsWhichSublayersMatter) {
  std::mt19937 random(7);
  const auto agreement = SetAgreement::fit(tried_sets(300, 64, random));
  SkippedSublayers ordinary(sublayers);
  SkippedSublayers dear(sublayers);
  ordinary[7] = true;
  dear[5] = true;
  EXPECT_NEAR(agreement->of(ordinary).mean, std::exp(-0.04), 0.03);
  EXPECT_NEAR(agreement->of(dear).mean, std::exp(-0.2), 0.05);
}

TEST(SetAgreement, OfTheWholeModelIsNearlyCertain) {
  std::mt19937 random(9);
  const auto agreement = SetAgreement::fit(tried_sets(10, 32, random));
  EXPECT_DOUBLE_EQ(agreement->of(SkippedSublayers(sublayers)).mean, 1.0);
  EXPECT_FALSE(SetAgreement::fit({}));
}

TEST(SetAgreement, OfATriedSetGoesFromTheModelToWhatWasSeen) {
  std::mt19937 random(11);
  const auto agreement = SetAgreement::fit(tried_sets(100, 32, random));
  ASSERT_TRUE(agreement);
  for (int trial = 0; trial < 50; ++trial) {
    TriedSet set{.skipped = random_set(4 + random() % 8, random)};
    const ExpectedAgreement modelled = agreement->of(set.skipped);
    EXPECT_DOUBLE_EQ(agreement->of(set).mean, modelled.mean);
    const double share = 0.3 + 0.01 * static_cast<double>(random() % 60);
    double width = modelled.high - modelled.low;
    double distance = std::abs(modelled.mean - share);
    for (const double judged : {40.0, 400.0, 4e4, 4e6}) {
      set.judged = judged;
      set.right = share * judged;
      const ExpectedAgreement seen = agreement->of(set);
      EXPECT_LE(seen.low, seen.mean);
      EXPECT_LE(seen.mean, seen.high);
      EXPECT_LE(std::abs(seen.mean - share), distance + 0.02);
      distance = std::abs(seen.mean - share);
      width = seen.high - seen.low;
    }
    EXPECT_LT(distance, 0.01);
    EXPECT_LT(width, 0.03);
  }
}

}  // namespace
}  // namespace draftscope::simulator
