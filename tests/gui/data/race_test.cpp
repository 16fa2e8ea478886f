// SPDX-License-Identifier: GPL-3.0-or-later
// Races, against their definition; and how long rounds take, against all of them sorted.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "data/run_comparison/race.h"
#include "data/run_comparison/run_comparison.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

std::vector<std::vector<std::int64_t>> random_times(std::mt19937& random) {
  std::vector<std::vector<std::int64_t>> times(2 + random() % 4);
  for (auto& run : times) {
    run.push_back(0);
    const std::size_t count = 1 + random() % 20;
    while (run.size() < count) run.push_back(run.back() + static_cast<std::int64_t>(random() % 50));
  }
  return times;
}

TEST(Race, InRealTimeEachRunHasTheTokensThatItHadByThen) {
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto times = random_times(random);
    const Race race(times);
    for (std::int64_t at = 0; at <= race.duration_ns(); at += 7) {
      const std::vector<RacePlace> places = race.at(at, Pace::real_time);
      ASSERT_EQ(places.size(), times.size());
      for (std::size_t run = 0; run < times.size(); ++run) {
        const auto there = std::ranges::count_if(times[run], [&](std::int64_t time) { return time <= at; });
        EXPECT_EQ(places[run].token + 1, static_cast<std::size_t>(there));
        EXPECT_EQ(places[run].known_ns, times[run][places[run].token]);
      }
    }
  }
}

TEST(Race, InLockstepNoneIsAheadUnlessTheOthersAreThrough) {
  std::mt19937 random(2);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const auto times = random_times(random);
    const Race race(times);
    std::size_t before = 0;
    for (std::int64_t at = 0; at <= race.duration_ns(); at += 3) {
      const std::vector<RacePlace> places = race.at(at, Pace::lockstep);
      const std::size_t token = std::ranges::max_element(places, {}, &RacePlace::token)->token;
      EXPECT_GE(token, before);
      before = token;
      for (std::size_t run = 0; run < times.size(); ++run) {
        // All at the same token, or at their last.
        EXPECT_EQ(places[run].token, std::min(token, times[run].size() - 1));
        // Nobody is shown what is still to come.
        EXPECT_LE(places[run].known_ns, at);
      }
    }
    std::size_t longest = 0;
    for (const auto& run : times) longest = std::max(longest, run.size());
    const std::vector<RacePlace> end = race.at(race.duration_ns(), Pace::lockstep);
    EXPECT_EQ(std::ranges::max_element(end, {}, &RacePlace::token)->token + 1, longest);
  }
}

TEST(Race, OfARunWithoutTokensIsNone) {
  EXPECT_TRUE(Race({{0, 1}, {}}).empty());
  EXPECT_EQ(Race().duration_ns(), 0);
  EXPECT_TRUE(Race().at(5, Pace::lockstep).empty());
}

TEST(RoundTimeSpread, RisesFromTheShortestRoundToTheLongest) {
  const traces::TestFolder folder;
  traces::make_sample_file(folder / "sample.dstrace", {.runs = 2, .requests_per_run = 60, .max_rounds = 90});
  const auto opened = OpenedRecording::open(folder / "sample.dstrace");
  ASSERT_TRUE(opened) << opened.error().message;
  const ComparedRun run{*opened, 1};
  std::vector<double> all;
  for (const std::uint32_t round : (*opened)->runs()[1].rounds)
    all.push_back(static_cast<double>((*opened)->round(round).end_ns - (*opened)->round(round).start_ns) /
                  1e6);
  std::sort(all.begin(), all.end());
  ASSERT_GT(all.size(), RoundTimeSpread::max_points);
  const RoundTimeSpread spread = round_time_spread(run);
  ASSERT_EQ(spread.ms.size(), RoundTimeSpread::max_points);
  EXPECT_EQ(spread.ms.front(), all.front());
  EXPECT_EQ(spread.ms.back(), all.back());
  EXPECT_EQ(spread.share.back(), 1.0);
  for (std::size_t i = 0; i < spread.ms.size(); ++i) {
    const auto at_most = std::upper_bound(all.begin(), all.end(), spread.ms[i]) - all.begin();
    const auto below = std::lower_bound(all.begin(), all.end(), spread.ms[i]) - all.begin();
    EXPECT_LE(spread.share[i], static_cast<double>(at_most) / static_cast<double>(all.size()));
    EXPECT_GT(spread.share[i], static_cast<double>(below) / static_cast<double>(all.size()));
  }
}

}  // namespace
}  // namespace draftscope::gui
