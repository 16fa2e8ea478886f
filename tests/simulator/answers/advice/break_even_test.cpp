// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/closed_forms.h>
#include <gtest/gtest.h>

#include <random>

namespace draftscope::simulator {
namespace {

RoundCost random_cost(std::mt19937& random, double steps) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  return {steps, unit(random), 0.5 + unit(random), 0.2 * unit(random)};
}

TEST(BreakEven, GivesASpeedupOfOneInTheClosedForms) {
  std::mt19937 random(11);
  int with_alpha = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const std::int32_t gamma = 1 + static_cast<std::int32_t>(random() % 12);
    const RoundCost cost = random_cost(random, gamma);
    const auto found = break_even(cost, gamma);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_NEAR(round_speedup(found->mean_accepted_length, cost).value(), 1.0, 1e-12);
    if (found->mean_accepted_length > 1.0) {
      EXPECT_NEAR(1.0 + found->acceptance_rate * gamma, found->mean_accepted_length, 1e-12);
    }
    if (!found->alpha) {
      EXPECT_LT(round_speedup(gamma + 1.0, cost).value(), 1.0) << "not even all accepted would pay";
      continue;
    }
    const double speedup = round_speedup(expected_tokens(*found->alpha, gamma).value(), cost).value();
    if (*found->alpha > 0.0) {
      ++with_alpha;
      EXPECT_NEAR(speedup, 1.0, 1e-9);
    } else {
      EXPECT_GE(speedup, 1.0) << "the bonus token alone pays";
    }
  }
  EXPECT_GT(with_alpha, 100);
}

TEST(BreakEven, IsThePapersWithoutOtherCosts) {
  const auto found = break_even({.steps_per_round = 4.0, .c = 0.2, .v = 1.0, .o = 0.0}, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(leviathan_speedup(found->alpha.value(), 4, 0.2).value(), 1.0, 1e-9);
  for (const double c : {0.1, 0.5, 0.9})
    EXPECT_NEAR(break_even({.steps_per_round = 1.0, .c = c}, 1)->alpha.value(), c, 1e-12)
        << "Leviathan et al., Corollary 3.9";
}

TEST(BreakEven, RefusesInOneLine) {
  EXPECT_FALSE(break_even({.steps_per_round = 0.0, .c = 0.2}));
  EXPECT_FALSE(break_even({.steps_per_round = 2.0, .c = -0.2}));
  EXPECT_FALSE(break_even({.steps_per_round = 2.0, .c = 0.2}, 0));
}

}  // namespace
}  // namespace draftscope::simulator
