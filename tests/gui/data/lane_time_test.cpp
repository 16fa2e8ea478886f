// SPDX-License-Identifier: GPL-3.0-or-later
// Axes that leave time out, the lanes that are shown on them and their names, against the plain statement of
// each over all slices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <set>

#include "data/lanes/cut_sums.h"
#include "data/lanes/cut_time.h"
#include "data/lanes/distinct_names.h"
#include "data/lanes/lane_groups.h"
#include "data/lanes/load_recording.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

std::int64_t overlap_ns(TimeRange a, TimeRange b) {
  return std::max<std::int64_t>(0, std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns));
}

class AxesThatLeaveTimeOut : public testing::TestWithParam<unsigned> {
 protected:
  /// Stretches of random lengths and gaps, in another order on the axis than in time.
  CutTime random_cut() {
    std::vector<Stretch> stretches;
    std::int64_t time = 1000;
    for (int i = 0; i < 12; ++i) {
      time += static_cast<std::int64_t>(random_() % 50);
      const auto length = static_cast<std::int64_t>(random_() % 40);
      stretches.push_back({{time, time + length}, 0});
      time += length;
    }
    std::shuffle(stretches.begin(), stretches.end(), random_);
    std::int64_t at = 0;
    for (Stretch& stretch : stretches) {
      stretch.at_ns = at;
      at += stretch.time.duration_ns() + static_cast<std::int64_t>(random_() % 10);
    }
    return CutTime(std::move(stretches));
  }

  std::mt19937_64 random_{GetParam()};
};

TEST_P(AxesThatLeaveTimeOut, ShowEachMomentOfAStretchOnceAndNoOther) {
  const CutTime cut = random_cut();
  std::set<std::int64_t> places;
  for (std::int64_t time = 900; time < 2200; ++time) {
    const auto in = std::count_if(
        cut.stretches().begin(), cut.stretches().end(),
        [&](const Stretch& stretch) { return time >= stretch.time.start_ns && time < stretch.time.end_ns; });
    ASSERT_LE(in, 1);
    EXPECT_EQ(cut.keeps(time), in == 1) << time;
    const TimeRange shown = cut.on_axis({time, time + 1});
    EXPECT_EQ(shown.duration_ns(), in);
    if (in == 0) continue;
    EXPECT_TRUE(places.insert(shown.start_ns).second) << "two moments at one place";
    EXPECT_EQ(cut.recorded_at(shown.start_ns), time);
    EXPECT_EQ(cut.recorded(shown), (TimeRange{time, time + 1}));
  }
}

TEST_P(AxesThatLeaveTimeOut, KeepOfATimeWhatLiesInTheStretches) {
  const CutTime cut = random_cut();
  for (int trial = 0; trial < 200; ++trial) {
    const auto start = static_cast<std::int64_t>(900 + random_() % 1300);
    const TimeRange time{start, start + static_cast<std::int64_t>(random_() % 400)};
    std::int64_t expected = 0;
    TimeRange hull{1 << 30, -1};
    for (std::int64_t moment = time.start_ns; moment < time.end_ns; ++moment)
      if (cut.keeps(moment)) {
        ++expected;
        const std::int64_t at = cut.on_axis({moment, moment + 1}).start_ns;
        hull = {std::min(hull.start_ns, at), std::max(hull.end_ns, at + 1)};
      }
    std::int64_t kept = 0;
    for (const TimeRange& part : cut.kept(time)) kept += part.duration_ns();
    EXPECT_EQ(kept, expected);
    const TimeRange shown = cut.on_axis(time);
    if (expected > 0) {
      EXPECT_EQ(shown, hull);
    } else {
      EXPECT_EQ(shown.duration_ns(), 0);
    }
  }
}

TEST_P(AxesThatLeaveTimeOut, AddUpALaneAsItsSlicesDo) {
  const CutTime cut = random_cut();
  Lane lane;
  std::int64_t time = 950;
  for (int i = 0; i < 200; ++i) {
    time += static_cast<std::int64_t>(random_() % 4);
    const auto length = static_cast<std::int64_t>(random_() % 6);
    lane.slices.add({.time = {time, time + length},
                     .phase = static_cast<traces::Phase>(random_() % traces::phase_count)});
    time += length;
  }
  lane.pyramid = BusyPyramid(lane.slices);
  const CutSums sums(lane, cut);
  for (int trial = 0; trial < 300; ++trial) {
    const auto start = static_cast<std::int64_t>(random_() % 500) - 20;
    const TimeRange axis{start, start + static_cast<std::int64_t>(random_() % 200)};
    BusyColumns::ByPhase expected{};
    for (std::int64_t at = axis.start_ns; at < axis.end_ns; ++at)
      for (const Stretch& stretch : cut.stretches()) {
        if (overlap_ns(stretch.on_axis(), {at, at + 1}) == 0) continue;
        const std::int64_t moment = stretch.time.start_ns + at - stretch.at_ns;
        for (std::size_t i = 0; i < lane.slices.size(); ++i)
          if (lane.slices.start_ns(i) <= moment && moment < lane.slices.end_ns(i))
            ++expected[static_cast<std::size_t>(lane.slices.phase(i))];
      }
    EXPECT_EQ(sums.summarise(lane, cut, axis), expected);
    const BusyPyramid::ByPhase until_end = sums.until(lane, cut, axis.end_ns);
    const BusyPyramid::ByPhase until_start = sums.until(lane, cut, axis.start_ns);
    for (std::size_t phase = 0; phase < expected.size(); ++phase)
      EXPECT_EQ(static_cast<double>(until_end[phase] - until_start[phase]), expected[phase]);
    const bool any = std::any_of(expected.begin(), expected.end(), [](double ns) { return ns > 0.0; });
    if (any) {
      EXPECT_TRUE(is_busy(lane, cut, axis));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AxesThatLeaveTimeOut, testing::Range(1U, 6U));

TEST(CutTime, ThatCutsNothingIsTheRecordingsClock) {
  const CutTime clock;
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1} << 55}) {
    EXPECT_TRUE(clock.keeps(time));
    EXPECT_EQ(clock.on_axis({time, time + 7}), (TimeRange{time, time + 7}));
    EXPECT_EQ(clock.recorded({time, time + 7}), (TimeRange{time, time + 7}));
    EXPECT_EQ(clock.recorded_at(time), time);
  }
}

class RunsBySample : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    sample_ = traces::make_sample_file(
        folder_ / "sample.dstrace", {.seed = GetParam(), .runs = 4, .requests_per_run = 5, .max_rounds = 30});
    const std::atomic<bool> never_cancelled{false};
    auto loaded = load_recording(folder_ / "sample.dstrace", never_cancelled, {});
    ASSERT_TRUE(loaded) << loaded.error().message;
    loaded_ = *std::move(loaded);
  }

  /// Run of each slice that belongs to one, by the rows that were written.
  template <typename Visit>
  void for_each_span_of_a_run(const Visit& visit) const {
    std::map<traces::RequestId, traces::RunId> run_of;
    for (const traces::Request& request : sample_.recording.requests) run_of[request.id] = request.run_id;
    for (const traces::Span& span : sample_.spans)
      if (run_of.contains(span.request_id)) visit(span, run_of[span.request_id]);
  }

  traces::TestFolder folder_;
  traces::Sample sample_;
  LoadedRecording loaded_;
};

TEST_P(RunsBySample, OnTheirOwnKeepTheLengthOfEverySpanAndHaveNoneOfOthers) {
  for (std::size_t run = 0; run < loaded_.recording->runs().size(); ++run) {
    const CutTime cut = time_of_run(*loaded_.recording, run);
    const traces::RunId run_id = loaded_.recording->runs()[run].run->id;
    for_each_span_of_a_run([&](const traces::Span& span, traces::RunId of) {
      const TimeRange time{span.start_ns, span.end_ns};
      if (of == run_id) {
        EXPECT_EQ(cut.on_axis(time).duration_ns(), time.duration_ns());
      } else {
        EXPECT_TRUE(cut.kept(time).empty());
      }
    });
    std::int64_t all = 0;
    for (const traces::Request& request : sample_.recording.requests)
      if (request.run_id == run_id) all += request.end_ns - request.start_ns;
    EXPECT_EQ(cut.whole(), (TimeRange{0, all}));
    // Any part of the axis leads to a time that leads back.
    std::mt19937_64 random(run);
    for (int trial = 0; trial < 50 && all > 0; ++trial) {
      const auto start = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all));
      const TimeRange axis{
          start, start + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all - start))};
      EXPECT_EQ(cut.on_axis(cut.recorded(axis)), axis);
    }
  }
}

TEST_P(RunsBySample, BesideOneAnotherBeginEachRequestAtTheSamePlace) {
  const AlignedTimes aligned = align_runs(*loaded_.recording);
  ASSERT_EQ(aligned.runs.size(), loaded_.recording->runs().size());
  std::map<std::pair<traces::PromptId, std::int32_t>, std::vector<const traces::Request*>> same;
  for (const traces::Request& request : loaded_.recording->recording().requests)
    same[{request.prompt_id, request.repeat}].push_back(&request);
  EXPECT_EQ(aligned.places.size(), same.size());
  std::int64_t end = 0;
  for (const AlignedTimes::Slot& slot : aligned.places) {
    EXPECT_EQ(slot.on_axis.start_ns, end);
    end = slot.on_axis.end_ns;
    const traces::Request& shown = loaded_.recording->recording().requests[slot.request_index];
    std::int64_t longest = 0;
    for (const traces::Request* request : same[{shown.prompt_id, shown.repeat}]) {
      longest = std::max(longest, request->end_ns - request->start_ns);
      for (std::size_t run = 0; run < aligned.runs.size(); ++run)
        if (loaded_.recording->runs()[run].run->id == request->run_id) {
          EXPECT_EQ(aligned.runs[run].on_axis({request->start_ns, request->end_ns}),
                    (TimeRange{slot.on_axis.start_ns,
                               slot.on_axis.start_ns + request->end_ns - request->start_ns}));
        }
    }
    EXPECT_EQ(slot.on_axis.duration_ns(), longest);
  }
}

TEST_P(RunsBySample, HaveGroupsWithEachLaneOnceAndRoundsWhenCollapsed) {
  const Timeline& timeline = *loaded_.timeline;
  const std::size_t runs = loaded_.recording->runs().size();
  const auto groups = shown_groups(timeline, *loaded_.recording, TimelineMode::all, 1);
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

  const auto own = shown_groups(timeline, *loaded_.recording, TimelineMode::run, 1);
  EXPECT_EQ(own.size(), groups.size() - runs + 1);
  EXPECT_EQ(own.front().run_index, 1U);
  const auto aligned = shown_groups(timeline, *loaded_.recording, TimelineMode::aligned, 1);
  ASSERT_EQ(aligned.size(), runs);
  for (std::size_t run = 0; run < runs; ++run) EXPECT_EQ(aligned[run].run_index, run);
}

TEST_P(RunsBySample, HaveLanesThatAreBusyWhereTheyHaveSlices) {
  std::mt19937_64 random(GetParam());
  const CutTime cut = time_of_run(*loaded_.recording, 1);
  const std::int64_t all = cut.whole().end_ns;
  ASSERT_GT(all, 0);
  for (const Lane& lane : loaded_.timeline->lanes)
    for (int trial = 0; trial < 20; ++trial) {
      const auto start = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(all));
      const TimeRange axis{
          start, std::min<std::int64_t>(all, start + 1 + static_cast<std::int64_t>(random() % 5000))};
      bool expected = false;
      for (std::size_t i = 0; i < lane.slices.size(); ++i)
        for (const TimeRange& part : cut.kept({lane.slices.start_ns(i), lane.slices.end_ns(i)}))
          expected = expected || overlap_ns(cut.on_axis(part), axis) > 0;
      if (expected) {
        EXPECT_TRUE(is_busy(lane, cut, axis));
      }
      // A slice of no length makes a lane busy, too.
      if (is_busy(lane, cut, axis) && !expected) {
        bool is_moment = false;
        for (std::size_t i = 0; i < lane.slices.size(); ++i)
          is_moment = is_moment || lane.slices.start_ns(i) == lane.slices.end_ns(i);
        EXPECT_TRUE(is_moment) << lane.name;
      }
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
