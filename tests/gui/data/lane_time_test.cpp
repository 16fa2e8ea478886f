// SPDX-License-Identifier: GPL-3.0-or-later
// Tests groups of lanes, whether a lane is busy, and the names of runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <set>

#include "data/lanes/lane_groups.h"
#include "data/lanes/load_recording.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

class RunsBySample : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { load({.seed = GetParam(), .runs = 4, .requests_per_run = 5, .max_rounds = 30}); }
};

TEST_P(RunsBySample, HaveGroupsWithEachLaneOnceAndRoundsWhenCollapsed) {
  const Timeline& timeline = *timeline_;
  const auto groups = shown_groups(timeline, *opened_);
  // The sample has a device.
  EXPECT_EQ(groups[0].track_kind, "host");
  EXPECT_EQ(groups[1].track_kind, "stream");
  EXPECT_EQ(groups[2].kind, ShownGroup::GroupKind::run);
  std::vector<std::size_t> lanes;
  std::set<std::string> keys;
  for (const ShownGroup& group : groups) {
    lanes.insert(lanes.end(), group.lanes.begin(), group.lanes.end());
    EXPECT_TRUE(keys.insert(group.key).second) << group.key;
    const auto collapsed = collapsed_lanes(timeline, group);
    if (group.kind == ShownGroup::GroupKind::counter) continue;
    ASSERT_EQ(collapsed.size(), 1U) << group.key;
    if (group.kind == ShownGroup::GroupKind::run) {
      EXPECT_EQ(timeline.lanes[collapsed.front()].kind, LaneKind::rounds);
    }
  }
  std::sort(lanes.begin(), lanes.end());
  ASSERT_EQ(lanes.size(), timeline.lanes.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) EXPECT_EQ(lanes[i], i);
}

TEST_P(RunsBySample, HaveLanesThatAreBusyWhereTheyHaveSlices) {
  std::mt19937_64 random(GetParam());
  const TimeRange whole = timeline_->whole;
  for (const Lane& lane : timeline_->lanes)
    for (int trial = 0; trial < 20; ++trial) {
      const std::int64_t start =
          whole.start_ns +
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(whole.duration_ns()));
      const TimeRange time{start, start + 1 + static_cast<std::int64_t>(random() % 5000)};
      bool expected = false;
      for (std::size_t i = 0; i < lane.slices.size(); ++i)
        expected =
            expected || (lane.slices.start_ns(i) < time.end_ns && lane.slices.end_ns(i) > time.start_ns);
      EXPECT_EQ(is_busy(lane, time), expected) << lane.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RunsBySample, testing::Range(1U, 4U));

TEST(DistinctNames, AreTheStrategyAndWhatTellsItFromOthers) {
  EXPECT_THAT(distinct_names({"vanilla", "layerskip:exit=3,gamma=2", "layerskip:exit=7,gamma=2",
                              "draft-verify:skip-attention=7+11,gamma=4"}),
              testing::ElementsAre("vanilla", "layerskip exit=3", "layerskip exit=7", "draft-verify"));
  EXPECT_THAT(distinct_names({"prompt-lookup", "prompt-lookup:ngram=4"}),
              testing::ElementsAre("prompt-lookup", "prompt-lookup ngram=4"));
  EXPECT_THAT(distinct_names({"fs:a=1,b=2", "fs:b=2,a=1", "fs"}),
              testing::ElementsAre(testing::StartsWith("fs"), testing::StartsWith("fs"), "fs"));
}

TEST(DistinctNames, OfDifferentSpecificationsDiffer) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<std::string> specifications;
    for (std::uint64_t i = 0; i <= random() % 8; ++i) {
      std::string one = random() % 2 == 0 ? "fs" : "dv";
      for (std::uint64_t k = 0; k < random() % 3; ++k)
        one += (k == 0 ? ':' : ',') + std::string(random() % 2 == 0 ? "a=" : "b=") +
               std::to_string(random() % 2);
      specifications.push_back(one);
    }
    const std::vector<std::string> names = distinct_names(specifications);
    ASSERT_EQ(names.size(), specifications.size());
    for (std::size_t a = 0; a < names.size(); ++a)
      for (std::size_t b = 0; b < names.size(); ++b)
        EXPECT_EQ(names[a] == names[b], specifications[a] == specifications[b])
            << specifications[a] << " and " << specifications[b];
  }
}

}  // namespace
}  // namespace draftscope::gui
