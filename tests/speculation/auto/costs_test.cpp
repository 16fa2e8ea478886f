// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/auto/round_costs.h>
#include <draftscope/speculation/auto/time_account.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace draftscope::speculation {
namespace {

constexpr std::array<double, 2> expected{0.5, 0.25};

/// A round of a machine that takes `pace` ns for a vanilla one.
RoundTimes round_of(double pace, std::int32_t rows, std::int32_t steps = 0, std::int32_t drafter = -1) {
  const double step = drafter == 0 ? 0.6 : 0.2;
  const double draft = pace * step * steps;
  const double rest = pace * (1.0 + 0.04 * (rows - 1));
  return {.rows = rows,
          .steps = steps,
          .drafter = drafter,
          .round_ns = static_cast<std::int64_t>(draft + rest),
          .draft_ns = static_cast<std::int64_t>(draft)};
}

TEST(RecentMedian, IsTheMiddleOfTheLatestNine) {
  std::mt19937 random(1);
  RecentMedian median;
  std::vector<double> values;
  for (int i = 0; i < 60; ++i) {
    values.push_back(static_cast<double>(random() % 1000));
    median.add(values.back());
    std::vector<double> latest(values.end() - std::min<std::ptrdiff_t>(9, i + 1), values.end());
    std::sort(latest.begin(), latest.end());
    EXPECT_EQ(median.value(), latest[(latest.size() - 1) / 2]);
  }
}

TEST(RoundCosts, AreThoseOfTheRoundsWhateverTheMachinesPace) {
  RoundCosts costs(expected);
  EXPECT_FALSE(costs.knows_vanilla());
  EXPECT_EQ(costs.draft_step(0), 0.5);
  for (const double pace : {1e6, 3e6, 0.5e6}) {
    while (costs.wants_vanilla()) costs.add(round_of(pace, 1));
    for (int i = 0; i < 60; ++i) costs.add(round_of(pace, 5, 4, i % 2));
    EXPECT_NEAR(costs.verification(5), 1.16, 1e-3);
    EXPECT_NEAR(costs.verification(3), 1.08, 1e-3);
    EXPECT_NEAR(costs.draft_step(0), 0.6, 1e-3);
    EXPECT_NEAR(costs.draft_step(1), 0.2, 1e-3);
    EXPECT_NEAR(costs.vanilla_ns() / pace, 1.0, 1e-3);
  }
}

TEST(RoundCosts, DoNotTakeASlowMachineForADearDraft) {
  RoundCosts costs(expected);
  while (costs.wants_vanilla()) costs.add(round_of(1e6, 1));
  for (int i = 0; i < 8; ++i) costs.add(round_of(1e6, 5, 4, 0));
  // Far from a vanilla round the machine slows down: the pace follows, costs stay.
  for (int i = 0; i < 12; ++i) costs.add(round_of(2e6, 5, 4, 0));
  EXPECT_NEAR(costs.draft_step(0), 0.6, 1e-3);
  EXPECT_NEAR(costs.vanilla_ns(), 2e6, 1e4);
}

TEST(RoundCosts, LearnNothingFromAnInterruptedRound) {
  RoundCosts costs(expected);
  costs.add(round_of(1e6, 1));
  costs.add(round_of(9e6, 1));
  for (int i = 0; i < 7; ++i) costs.add(round_of(i == 3 ? 50e6 : 1e6, 5, 4, 0));
  EXPECT_NEAR(costs.draft_step(0), 0.6, 1e-3);
  EXPECT_NEAR(costs.vanilla_ns(), 1e6, 1e4);
}

TEST(RoundCosts, WantVanillaRoundsTwoByTwo) {
  RoundCosts costs(expected);
  int vanilla = 0;
  double time = 0.0;
  for (int i = 0; i < 2000; ++i) {
    const bool wants = costs.wants_vanilla();
    vanilla += wants ? 1 : 0;
    costs.add(wants ? round_of(1e6, 1) : round_of(1e6, 3));
    time += wants ? 1.0 : 1.08;
  }
  EXPECT_NEAR(vanilla, 2.0 * time / 98.0, 4.0);
}

/// A text that matches nothing for a round now and then is no reason to measure.
TEST(RoundCosts, WantNoSecondVanillaRoundForOneThatWasChosen) {
  RoundCosts costs(expected);
  while (costs.wants_vanilla()) costs.add(round_of(1e6, 1));
  for (int i = 0; i < 40; ++i) {
    costs.add(round_of(1e6, 1 + i % 2));
    EXPECT_FALSE(costs.wants_vanilla());
  }
}

TEST(TimeAccount, LosesNoMoreThanItMay) {
  std::mt19937 random(2);
  const TimeAccount::Options options{.share = 0.02, .opening = 2.0, .max_gain = 8.0};
  for (int trial = 0; trial < 30; ++trial) {
    TimeAccount account(options);
    double vanilla = 0.0;
    double spent = 0.0;
    double max_behind = 0.0;
    for (int i = 0; i < 3000; ++i) {
      // Rounds that may win or lose all that they cost, begun where the account allows the loss.
      const double cost = 1.0 + static_cast<double>(random() % 40) / 10.0;
      const bool wins = random() % 8 < static_cast<unsigned>(trial % 3) * 2;
      const bool speculates = account.balance() >= cost - 1.0;
      const double tokens = speculates && wins ? cost + 1.0 : 1.0;
      account.add(tokens, speculates ? cost : 1.0);
      vanilla += tokens;
      spent += speculates ? cost : 1.0;
      max_behind = std::max(max_behind, spent - vanilla * (1.0 + options.share));
      EXPECT_GE(account.balance(), -1e-9);
    }
    EXPECT_LE(max_behind, options.opening + 1e-9);
  }
}

TEST(TimeAccount, KeepsNoMoreGainThanItMay) {
  TimeAccount account({.share = 0.0, .opening = 1.0, .max_gain = 8.0});
  for (int i = 0; i < 100; ++i) account.add(4.0, 1.0);
  EXPECT_DOUBLE_EQ(account.balance(), 9.0);
}

}  // namespace
}  // namespace draftscope::speculation
