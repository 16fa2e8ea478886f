// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <functional>

#include "strategies/guard/rule.h"

namespace draftscope::speculation {
namespace {

struct GuardedSums {
  double time = 0.0;  ///< vanilla rounds
  double tokens = 0.0;
  std::int64_t of_strategy = 0;  ///< Number of rounds by the strategy.
  int stops = 0;
};

/// Runs rounds of a strategy with the given tokens and times, in requests of 100 rounds.
GuardedSums run(SpeedGuard& guard, std::int64_t rounds,
                const std::function<std::pair<int, double>(std::int64_t)>& of) {
  GuardedSums sums;
  for (std::int64_t i = 0; i < rounds; ++i) {
    if (i % 100 == 0) guard.begin_request();
    const SpeedGuard::Round kind = guard.next();
    const auto [tokens, time] = kind == SpeedGuard::Round::strategy ? of(i) : std::pair(1, 1.0);
    guard.end_round(kind, static_cast<std::int64_t>(1e6 * time), tokens);
    sums.of_strategy += kind == SpeedGuard::Round::strategy ? 1 : 0;
    sums.time += time;
    sums.tokens += tokens;
    if (guard.has_turned() && guard.is_stopped()) ++sums.stops;
  }
  return sums;
}

TEST(SpeedGuard, LetsAStrategyGoOnThatPays) {
  SpeedGuard guard(0.98);
  const GuardedSums sums = run(guard, 5000, [](std::int64_t /*round*/) { return std::pair(3, 2.0); });
  EXPECT_EQ(sums.stops, 0);
  EXPECT_GT(sums.of_strategy, 4700);
}

TEST(SpeedGuard, StopsOneThatLosesMoreAndMoreRarelyTriesItAgain) {
  for (const double cost : {1.1, 2.0, 6.0}) {
    SpeedGuard guard(0.98);
    const GuardedSums sums = run(guard, 20000, [&](std::int64_t /*round*/) { return std::pair(1, cost); });
    EXPECT_GT(sums.stops, 1);
    EXPECT_LT(sums.stops, 12);
    // The bound consists of the share, the opening, and the last round of each trial.
    EXPECT_LT(sums.time, sums.tokens / 0.98 + 2.0 + sums.stops * cost);
    EXPECT_GT(sums.tokens / sums.time, 0.98);
  }
}

TEST(SpeedGuard, LetsOneComeBackThatBeginsToPay) {
  for (const double min_speed : {0.9, 0.98, 1.0}) {
    SpeedGuard guard(min_speed);
    const GuardedSums sums = run(guard, 20000, [](std::int64_t round) {
      return round < 2000 ? std::pair(1, 3.0) : std::pair(4, 2.0);
    });
    EXPECT_GT(sums.of_strategy, 14000) << min_speed;
    EXPECT_GT(sums.tokens / sums.time, 1.6) << min_speed;
  }
}

/// One interruption does not end a strategy that pays.
TEST(SpeedGuard, ComesBackAfterAnInterruption) {
  for (const double min_speed : {0.9, 0.98, 1.0}) {
    SpeedGuard guard(min_speed);
    const GuardedSums sums =
        run(guard, 20000, [](std::int64_t round) { return std::pair(2, round == 300 ? 60.0 : 1.5); });
    EXPECT_GT(sums.of_strategy, 10000) << min_speed;
  }
}

TEST(SpeedGuard, TakesLittleMoreThanVanillaAtOne) {
  SpeedGuard guard(1.0);
  const GuardedSums sums = run(guard, 20000, [](std::int64_t /*round*/) { return std::pair(1, 2.0); });
  EXPECT_GT(sums.stops, 1);
  EXPECT_GT(sums.tokens / sums.time, 0.99);
}

}  // namespace
}  // namespace draftscope::speculation
