// SPDX-License-Identifier: GPL-3.0-or-later
// Tests when a team of threads gives way to one thread, and when it comes back.
#include "cpu/team_choice.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "cpu/thread_team.h"

namespace draftscope::engine::cpu {
namespace {

constexpr std::int64_t pass_ns = 1'000'000;

/// One sleep that takes this share of a pass.
TeamSleep long_sleep(double share) {
  const auto ns = static_cast<std::int64_t>(share * pass_ns);
  return {.ns = ns, .long_ns = ns};
}

/// Makes `count` passes, of the team or alone. Team passes sleep for `slept_share`, or for `slept_crowded`
/// where threads leave their cores at once. Returns the number of passes alone.
int alone_of(TeamChoice& choice, int count, double slept_share, double slept_crowded) {
  int alone = 0;
  for (int i = 0; i < count; ++i) {
    if (choice.runs_alone()) {
      ++alone;
      choice.observe_alone();
    } else
      choice.observe_team(pass_ns, long_sleep(choice.is_crowded() ? slept_crowded : slept_share));
  }
  return alone;
}

int alone_of(TeamChoice& choice, int count, double slept_share) {
  return alone_of(choice, count, slept_share, slept_share);
}

TEST(TeamChoice, KeepsATeamThatDoesNotWait) {
  TeamChoice choice(2);
  EXPECT_EQ(alone_of(choice, 1000, 0.02), 0);
  EXPECT_FALSE(choice.is_crowded());
}

TEST(TeamChoice, KeepsATeamThatWaitsLessThanItGains) {
  TeamChoice two(2);
  EXPECT_EQ(alone_of(two, 1000, 0.45), 0);
  EXPECT_TRUE(two.is_crowded());
  TeamChoice eight(8);
  EXPECT_EQ(alone_of(eight, 1000, 0.8), 0);
}

TEST(TeamChoice, LeavesATeamThatSleepsAndTriesItRarely) {
  for (const std::int32_t threads : {2, 4, 8}) {
    TeamChoice choice(threads);
    const int passes = 10'000;
    const int alone = alone_of(choice, passes, 0.95);
    EXPECT_GT(alone, passes * 97 / 100) << threads;
    EXPECT_LT(alone, passes) << threads;
  }
}

TEST(TeamChoice, ComesBackWhenTheCoresAreFree) {
  TeamChoice choice(2);
  alone_of(choice, 20'000, 0.95);
  alone_of(choice, 1100, 0.0);  // covers the longest time alone, and the trials
  EXPECT_EQ(alone_of(choice, 5000, 0.0), 0);
  EXPECT_FALSE(choice.is_crowded());
}

TEST(TeamChoice, TakesOnePassThatSleptForNoCrowd) {
  TeamChoice choice(2);
  for (int round = 0; round < 20; ++round) {
    alone_of(choice, 1, 0.6);  // this pass is a prefill
    EXPECT_FALSE(choice.is_crowded());
    EXPECT_EQ(alone_of(choice, 30, 0.01), 0);
  }
}

/// A thread that slept between two passes of a small model is late by a large part of a pass.
TEST(TeamChoice, TakesWakingUpForNoCrowd) {
  TeamChoice choice(2);
  for (int pass = 0; pass < 100; ++pass) {
    TeamSleep slept;
    for (int barrier = 0; barrier < 4; ++barrier) slept.add(60'000);
    choice.observe_team(pass_ns, slept);
    EXPECT_FALSE(choice.is_crowded()) << pass;
    EXPECT_FALSE(choice.runs_alone()) << pass;
  }
}

TEST(TeamSleep, TellsLongSleepsFromShortOnes) {
  TeamSleep slept;
  slept.add(TeamSleep::long_from_ns - 1);
  EXPECT_EQ(slept.long_ns, 0);
  slept.add(TeamSleep::long_from_ns);
  EXPECT_EQ(slept.long_ns, TeamSleep::long_from_ns);
  EXPECT_EQ(slept.ns, 2 * TeamSleep::long_from_ns - 1);
}

/// Threads that leave their cores at once sleep at every barrier, even on free cores.
TEST(TeamChoice, SeesFreeCoresThoughThreadsThatLeaveAtOnceSleep) {
  TeamChoice choice(2);
  EXPECT_GT(alone_of(choice, 1000, 0.9, 0.7), 900);
  alone_of(choice, 1100, 0.01, 0.7);
  EXPECT_EQ(alone_of(choice, 1000, 0.01, 0.7), 0);
  EXPECT_FALSE(choice.is_crowded());
}

TEST(TeamChoice, OfOneThreadIsNone) {
  TeamChoice choice(1);
  EXPECT_EQ(alone_of(choice, 100, 0.99), 0);
}

/// The first thread waits for late threads: the team gives way, and every run is still complete.
TEST(ThreadTeam, RunsAloneWhileOthersAreLate) {
  ThreadTeam team(2);
  int alone = 0;
  for (int run = 0; run < 40; ++run) {
    const std::int32_t active = team.active();
    alone += active == 1 ? 1 : 0;
    std::atomic<std::int32_t> before{0};
    std::atomic<std::int32_t> seen{0};
    auto body = [&](std::int32_t thread) {
      if (thread > 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      before.fetch_add(1);
      team.barrier();
      if (before.load() == active) seen.fetch_add(1);
    };
    team.run(body);
    EXPECT_EQ(seen.load(), active);
  }
  EXPECT_GT(alone, 0);
}

}  // namespace
}  // namespace draftscope::engine::cpu
