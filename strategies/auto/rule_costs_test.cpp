// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "strategies/auto/rule_costs.h"

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
  // The machine slows down long after a vanilla round: the pace follows, and costs stay.
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

TEST(RoundCosts, DoNotTakeTheFirstRoundsWordForACost) {
  RoundCosts costs(expected);
  while (costs.wants_vanilla()) costs.add(round_of(1e6, 1));
  costs.add(round_of(20e6, 5, 4, 0));
  EXPECT_EQ(costs.draft_step(0), 0.5);
  EXPECT_NEAR(costs.verification(5), 1.12, 1e-9);
  // Rounds that stay slow do count; at best they cost what was expected.
  for (int i = 0; i < 4; ++i) costs.add(round_of(20e6, 5, 4, 0));
  EXPECT_NEAR(costs.draft_step(0), 12.0, 1e-3);
  EXPECT_EQ(costs.hoped_step(0), 0.5);
  EXPECT_NEAR(costs.hoped_verification(5), 1.12, 1e-9);
}

/// Another program begins after two vanilla rounds: draft and verification take 2.5 times as long.
TEST(RoundCosts, TakeAnotherPaceForNoCost) {
  RoundCosts costs(expected);
  const auto vanilla_rounds = [&] {
    for (int i = 0; i < 2; ++i) costs.add(round_of(1e6, 1));
  };
  const auto drafts = [&](double pace, int count) {
    for (int i = 0; i < count; ++i) costs.add(round_of(1e6 * pace, 5, 4, 0));
  };
  vanilla_rounds();
  drafts(1.0, 9);
  ASSERT_NEAR(costs.draft_step(0), 0.6, 1e-3);
  vanilla_rounds();
  drafts(1.0, 1);
  drafts(2.5, 20);
  EXPECT_NEAR(costs.draft_step(0), 0.6, 1e-3);
  EXPECT_NEAR(costs.vanilla_ns(), 2.5e6, 1e4);
  // A difference that holds from the first round after two pairs is a cost.
  for (int pair = 0; pair < 3; ++pair) {
    vanilla_rounds();
    drafts(2.5, 9);
  }
  EXPECT_NEAR(costs.draft_step(0), 1.5, 1e-3);
}

TEST(RoundCosts, WantVanillaRoundsTwoByTwo) {
  RoundCosts costs(expected);
  std::vector<double> pairs;
  double time = 0.0;
  int vanilla = 0;
  for (int i = 0; i < 2000; ++i) {
    const bool wants = costs.wants_vanilla();
    if (wants && ++vanilla % 2 == 0) pairs.push_back(time);
    costs.add(wants ? round_of(1e6, 1) : round_of(1e6, 3));
    time += wants ? 1.0 : 1.08;
  }
  ASSERT_GT(pairs.size(), 4U);
  // Nothing changes, so measurements become ever rarer.
  constexpr std::array intervals{96.0, 192.0};
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    const double interval = intervals[std::min<std::size_t>(i - 1, 1)];
    EXPECT_NEAR(pairs[i] - pairs[i - 1], 2.0 + interval, 2.5);
  }
}

/// Attention makes every round longer as the text grows: rows and draft steps each grow differently.
TEST(RoundCosts, FollowATextThatGrows) {
  RoundCosts costs(expected);
  std::mt19937 random(4);
  const auto vanilla = [](double context) { return 1e6 * (1.0 + context / 6000.0); };
  const auto step = [](double context) { return 1e6 * (0.3 + context / 6000.0); };
  const auto row = [](double context) { return 1e6 * (0.02 + context / 60000.0); };
  double context = 50.0;
  while (context < 2500.0) {
    const bool wants = costs.wants_vanilla();
    const std::int32_t steps = wants ? 0 : 4;
    const double noise = 0.98 + static_cast<double>(random() % 5) / 100.0;
    const double draft = steps * step(context) * noise;
    const double rest = (vanilla(context) + steps * row(context)) * noise;
    costs.add({.rows = steps + 1,
               .steps = steps,
               .drafter = wants ? -1 : 0,
               .round_ns = static_cast<std::int64_t>(draft + rest),
               .draft_ns = static_cast<std::int64_t>(draft)});
    context += wants ? 1.0 : 3.5;
    if (context < 200.0) continue;
    EXPECT_NEAR(costs.draft_step(0), step(context) / vanilla(context), 0.05);
    EXPECT_NEAR(costs.verification(5), 1.0 + 4.0 * row(context) / vanilla(context), 0.05);
    EXPECT_NEAR(costs.vanilla_ns() / vanilla(context), 1.0, 0.06);
  }
}

/// Kernels change at certain widths: the cost of two rows says little about eight, and one round is not
/// enough to decide.
TEST(RoundCosts, AreLearntWidthByWidth) {
  RoundCosts costs(expected);
  const auto round = [](std::int32_t rows, double cost) {
    return RoundTimes{.rows = rows, .round_ns = static_cast<std::int64_t>(1e6 * cost)};
  };
  while (costs.wants_vanilla()) costs.add(round(1, 1.0));
  for (int i = 0; i < 4; ++i) costs.add(round(2, 1.10));
  EXPECT_NEAR(costs.verification(2), 1.10, 0.03);
  EXPECT_NEAR(costs.verification(8), 1.10 + 6 * 0.03, 0.05);
  for (int i = 0; i < 4; ++i) costs.add(round(8, 1.15));
  EXPECT_NEAR(costs.verification(8), 1.15, 0.01);
  for (std::int32_t rows = 2; rows < 100; ++rows)
    EXPECT_GE(costs.verification(rows), costs.verification(rows - 1) - 1e-12);
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
      // Rounds may win or lose their entire cost; they begin where the account allows the loss.
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
