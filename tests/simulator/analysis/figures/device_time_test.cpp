// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/what_is_traced.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <tuple>

namespace draftscope::simulator {
namespace {

using traces::Phase;

DeviceTime time_of(const std::vector<traces::Round>& rounds, std::vector<DeviceInterval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const DeviceInterval& a, const DeviceInterval& b) {
    return std::tie(a.round_id, a.start_ns, a.end_ns) < std::tie(b.round_id, b.start_ns, b.end_ns);
  });
  RunRows run;
  run.requests.resize(1);
  run.requests[0].rounds = rounds;
  return device_time(run, intervals);
}

TEST(DeviceTime, CutsARoundIntoBusyGapAndHost) {
  const DeviceTime time =
      time_of({{.id = 7, .start_ns = 100, .end_ns = 200}},
              {{7, 110, 130, Phase::draft}, {7, 125, 140, Phase::verify}, {7, 150, 180, Phase::verify}});
  EXPECT_EQ(time.rounds, 1);
  EXPECT_EQ(time.activities, 3);
  EXPECT_EQ(time.wall_ns, 100);
  EXPECT_EQ(time.busy_ns, 60);
  EXPECT_EQ(time.gap_ns, 10);
  EXPECT_EQ(time.host_ns, 30);
  EXPECT_EQ(time.outside_ns, 0);
  EXPECT_EQ(time.busy_by_phase[static_cast<std::size_t>(Phase::draft)], 20);
  EXPECT_EQ(time.busy_by_phase[static_cast<std::size_t>(Phase::verify)], 40);
}

TEST(DeviceTime, TellsGapsApartByWhatEndedThem) {
  const DeviceTime time = time_of({{.id = 7, .start_ns = 0, .end_ns = 100}}, {{7, 10, 12, Phase::verify, 1},
                                                                              {7, 15, 16, Phase::verify, 2},
                                                                              {7, 36, 40, Phase::verify, 3},
                                                                              {7, 41, 50, Phase::verify, 3},
                                                                              {7, 45, 48, Phase::verify, 4},
                                                                              {7, 52, 53, Phase::verify, 4}});
  EXPECT_EQ(time.gap_launch_ns, 3 + 20);
  EXPECT_EQ(time.gap_ns, 26);
}

TEST(Attribution, GivesEachInstantOnceToWhatBeganFirst) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::pair<std::int64_t, std::int64_t>> activities(random() % 9);
    for (auto& [start, end] : activities) {
      start = static_cast<std::int64_t>(random() % 60) - 20;
      end = start + static_cast<std::int64_t>(random() % 30);
    }
    std::sort(activities.begin(), activities.end());
    const std::int64_t from = static_cast<std::int64_t>(random() % 60) - 20;
    const std::int64_t to = from + static_cast<std::int64_t>(random() % 40);
    std::vector<std::int64_t> expected(activities.size());
    for (std::int64_t at = from; at < to; ++at)
      for (std::size_t i = 0; i < activities.size(); ++i)
        if (activities[i].first <= at && at < activities[i].second) {
          ++expected[i];
          break;
        }
    Attribution attribution;
    for (std::size_t i = 0; i < activities.size(); ++i)
      EXPECT_EQ(attribution.add(activities[i].first, activities[i].second).ns_within(from, to), expected[i]);
  }
}

TEST(WhatIsTraced, SpeaksOfKernelsThatWereTracedOneByOne) {
  EXPECT_NE(what_is_traced({{"device_trace", "node"}}), "");
  for (const char* mode : {"off", "graph", "operations", ""})
    EXPECT_EQ(what_is_traced({{"device_trace", mode}}), "");
  EXPECT_EQ(what_is_traced({}), "");
}

// Compares with a count of every nanosecond.
TEST(DeviceTime, AddsUpToTheWallTimeOnRandomRounds) {
  std::mt19937_64 random(3);
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<traces::Round> rounds;
    std::vector<DeviceInterval> intervals;
    DeviceTime expected;
    std::int64_t at = pick(0, 20);
    for (std::int64_t id = 1; id <= 4; ++id) {
      const std::int64_t start = at;
      at += pick(1, 60);
      rounds.push_back({.id = traces::RoundId::from(id), .start_ns = start, .end_ns = at});
      std::vector<bool> ran(static_cast<std::size_t>(at - start), false);
      std::int64_t first = at;
      std::int64_t last = start;
      bool any = false;
      for (std::int64_t n = pick(0, 5); n > 0; --n) {
        const std::int64_t from = std::max<std::int64_t>(start + pick(-10, 60), 0);
        const std::int64_t to = from + pick(0, 30);
        intervals.push_back({traces::RoundId::from(id), from, to, Phase::verify});
        any = true;
        first = std::min(first, std::clamp(from, start, at));
        last = std::max(last, std::clamp(to, start, at));
        for (std::int64_t t = from; t < to; ++t) {
          if (t < start || t >= at)
            ++expected.outside_ns;
          else
            ran[static_cast<std::size_t>(t - start)] = true;
        }
      }
      if (!any) continue;
      ++expected.rounds;
      expected.wall_ns += at - start;
      expected.busy_ns += std::count(ran.begin(), ran.end(), true);
      expected.host_ns += (at - start) - (last - first);
    }
    const DeviceTime time = time_of(rounds, intervals);
    EXPECT_EQ(time.rounds, expected.rounds) << "those with work";
    EXPECT_EQ(time.wall_ns, expected.wall_ns);
    EXPECT_EQ(time.busy_ns, expected.busy_ns);
    EXPECT_EQ(time.host_ns, expected.host_ns);
    EXPECT_EQ(time.outside_ns, expected.outside_ns);
    EXPECT_EQ(time.busy_ns + time.gap_ns + time.host_ns, time.wall_ns);
    EXPECT_GE(time.gap_launch_ns, 0);
    EXPECT_LE(time.gap_launch_ns, time.gap_ns);
  }
}

}  // namespace
}  // namespace draftscope::simulator
