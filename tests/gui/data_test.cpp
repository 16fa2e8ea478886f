// SPDX-License-Identifier: GPL-3.0-or-later
// What the app shows, against the plain statement of it over all rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "data/opened_recording.h"
#include "data/replayed_text.h"
#include "data/round_times.h"
#include "data/run_comparison.h"
#include "data/skip_pyramid.h"
#include "data/timeline.h"
#include "sample.h"

namespace draftscope::gui {
namespace {

LaneSlices random_lane(std::mt19937_64& random, std::size_t count) {
  LaneSlices slices;
  std::int64_t time = static_cast<std::int64_t>(random() % 1000);
  for (std::size_t i = 0; i < count; ++i) {
    time += static_cast<std::int64_t>(random() % 3 == 0 ? 0 : random() % 50);
    const auto duration = static_cast<std::int64_t>(random() % 5 == 0 ? 0 : random() % 100);
    slices.add({.time = {time, time + duration},
                .name = static_cast<std::uint32_t>(i),
                .phase = static_cast<traces::Phase>(random() % traces::phase_count)});
    time += duration;
  }
  return slices;
}

class Lanes : public testing::TestWithParam<std::size_t> {};

TEST_P(Lanes, SumUpToTheSameAsTheirSlicesOverAnyStretch) {
  std::mt19937_64 random(GetParam() + 1);
  const LaneSlices slices = random_lane(random, GetParam());
  const BusyPyramid pyramid(slices);
  const std::int64_t end = slices.size() > 0 ? slices.end_ns(slices.size() - 1) + 100 : 1000;
  for (int trial = 0; trial < 300; ++trial) {
    TimeRange range{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)), 0};
    range.end_ns = range.start_ns + static_cast<std::int64_t>(
                                        random() % (trial % 3 == 0 ? 60 : static_cast<std::uint64_t>(end)));
    std::array<std::int64_t, traces::phase_count> by_phase{};
    std::int64_t longest = -1;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      // A slice of no length at the very start has ended before it.
      if (slices.end_ns(i) <= range.start_ns || slices.start_ns(i) >= range.end_ns) continue;
      by_phase[static_cast<std::size_t>(slices.phase(i))] +=
          std::min(slices.end_ns(i), range.end_ns) - std::max(slices.start_ns(i), range.start_ns);
      longest = std::max(longest, slices.end_ns(i) - slices.start_ns(i));
    }
    const BusySummary summary = pyramid.summarise(slices, range);
    EXPECT_EQ(summary.by_phase_ns, by_phase);
    EXPECT_EQ(summary.longest_ns, longest);
    EXPECT_EQ(summary.busy_ns(), std::accumulate(by_phase.begin(), by_phase.end(), std::int64_t{0}));
    if (summary.slices > 0) {
      EXPECT_EQ(slices.end_ns(summary.longest) - slices.start_ns(summary.longest), longest);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Lanes, testing::Values(0, 1, 2, 63, 64, 65, 700, 4096, 9000));

class Recordings : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    sample_ = traces::make_sample_file(
        folder_ / "sample.dstrace", {.seed = GetParam(), .runs = 3, .requests_a_run = 4, .most_rounds = 200});
    auto opened = OpenedRecording::open(folder_ / "sample.dstrace");
    ASSERT_TRUE(opened) << opened.error().message;
    opened_ = *opened;
  }

  traces::TestFolder folder_;
  traces::Sample sample_;
  RecordingPointer opened_;
};

TEST_P(Recordings, HaveEachRoundOnceInTheOrderOfItsRun) {
  std::size_t all = 0;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    std::int64_t before = 0;
    for (std::size_t place = 0; place < opened_->runs()[run].rounds.size(); ++place) {
      const std::uint32_t round = opened_->runs()[run].rounds[place];
      EXPECT_EQ(opened_->run_of(round), run);
      EXPECT_EQ(opened_->place_in_run(round), place);
      EXPECT_EQ(opened_->request_of(round).id, opened_->round(round).request);
      EXPECT_GE(opened_->round(round).start_ns, before);
      before = opened_->round(round).start_ns;
      EXPECT_EQ(opened_->draft_tokens(round).size(), static_cast<std::size_t>(opened_->round(round).drafted));
      for (const traces::DraftToken& token : opened_->draft_tokens(round))
        EXPECT_EQ(token.round, opened_->round(round).id);
      ++all;
    }
  }
  EXPECT_EQ(all, opened_->recording().rounds.size());
}

TEST_P(Recordings, ShowEverySpanAndKernelOnceInLanesWithoutOverlap) {
  auto reader = traces::Reader::open(folder_ / "sample.dstrace");
  ASSERT_TRUE(reader);
  const auto timeline = read_timeline(*reader, opened_->recording(), {});
  ASSERT_TRUE(timeline) << timeline.error().message;
  std::size_t on_tracks = 0;
  for (const Lane& lane : timeline->lanes) {
    if (lane.kind == LaneKind::track) on_tracks += lane.slices.size();
    for (std::size_t i = 1; i < lane.slices.size(); ++i)
      EXPECT_GE(lane.slices.start_ns(i), lane.slices.end_ns(i - 1)) << lane.name;
  }
  EXPECT_EQ(on_tracks, sample_.spans.size() + sample_.kernels.size());
  std::size_t counters = 0;
  for (const CounterLane& lane : timeline->counters) counters += lane.value.size();
  EXPECT_EQ(counters, sample_.counters.size());
  const auto launched = std::count_if(sample_.kernels.begin(), sample_.kernels.end(),
                                      [](const traces::Kernel& kernel) { return kernel.span != 0; });
  EXPECT_EQ(timeline->launches.size(), static_cast<std::size_t>(launched));
}

TEST_P(Recordings, CanBeCancelledWhileTheyAreRead) {
  auto reader = traces::Reader::open(folder_ / "sample.dstrace");
  ASSERT_TRUE(reader);
  // Progress comes every so many rows: a small file may be read before it is first asked.
  const auto timeline =
      read_timeline(*reader, opened_->recording(), [](std::int64_t, std::int64_t) { return false; });
  EXPECT_TRUE(timeline || timeline.error().message == "cancelled");
}

TEST_P(Recordings, CountSkippedSublayersAsTheRoundsHaveThem) {
  std::mt19937_64 random(GetParam());
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const SkipPyramid pyramid(*opened_, run);
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    ASSERT_EQ(pyramid.rounds(), rounds.size());
    for (int trial = 0; trial < 40 && !rounds.empty(); ++trial) {
      const std::size_t first = random() % rounds.size();
      const std::size_t last = first + random() % (rounds.size() - first + 1);
      std::vector<std::uint32_t> skipped(pyramid.sublayers());
      std::size_t drafting = 0;
      for (std::size_t place = first; place < last; ++place) {
        const traces::LayerSet* set = opened_->layer_set(rounds[place]);
        if (set == nullptr) continue;
        ++drafting;
        for (std::size_t bit = 0; bit < 2 * static_cast<std::size_t>(set->n_layers); ++bit)
          skipped[bit] += (set->skipped[bit / 8] >> (bit % 8)) & 1;
      }
      SkipSummary summary;
      pyramid.summarise(first, last, summary);
      EXPECT_EQ(summary.rounds, last - first);
      EXPECT_EQ(summary.drafting, drafting);
      EXPECT_EQ(summary.skipped, skipped);
    }
  }
}

TEST_P(Recordings, SplitTheTimeOfRoundsWithoutRest) {
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    const RoundTimes times(*opened_, run);
    const std::vector<std::uint32_t>& rounds = opened_->runs()[run].rounds;
    std::int64_t all = 0;
    for (const std::uint32_t round : rounds)
      all += opened_->round(round).end_ns - opened_->round(round).start_ns;
    const PartTimes sum = times.sum(0, rounds.size());
    EXPECT_EQ(std::accumulate(sum.begin(), sum.end(), std::int64_t{0}), all);
  }
}

TEST_P(Recordings, GiveEachTokenOfATextItsOriginAndItsRound) {
  for (std::size_t request = 0; request < opened_->recording().requests.size(); ++request) {
    const ReplayedText text = replayed_text(*opened_, request);
    ASSERT_EQ(text.tokens.size(), opened_->recording().requests[request].tokens.size());
    std::size_t accepted = 0;
    for (std::size_t i = 0; i < text.tokens.size(); ++i) {
      const ReplayedToken& token = text.tokens[i];
      EXPECT_EQ(token.origin == TokenOrigin::prefill, i == 0);
      if (i > 0 && token.round != no_index && token.origin == TokenOrigin::accepted) ++accepted;
      if (token.draft != no_index) {
        EXPECT_TRUE(opened_->recording().draft_tokens[token.draft].accepted);
      }
    }
    std::size_t rejected = 0;
    for (const RejectedDraft& draft : text.rejected) {
      EXPECT_LE(draft.after, text.tokens.size());
      rejected += draft.drafts.size();
    }
    std::size_t all_rejected = 0;
    for (std::uint32_t round = 0; round < opened_->recording().rounds.size(); ++round)
      if (opened_->round(round).request == text.request->id)
        for (const traces::DraftToken& token : opened_->draft_tokens(round))
          all_rejected += token.accepted ? 0 : 1;
    EXPECT_EQ(rejected, all_rejected);
  }
}

TEST_P(Recordings, AlignRunsOnTheRequestsOfAll) {
  std::vector<ComparedRun> runs;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) runs.push_back({opened_, run});
  const RunsComparison comparison = compare(runs, 0);
  ASSERT_EQ(comparison.runs.size(), runs.size());
  EXPECT_TRUE(comparison.runs[0].is_baseline);
  EXPECT_FALSE(comparison.requests.empty());
  for (const AlignedRequest& aligned : comparison.requests)
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const traces::Request& request = opened_->recording().requests[aligned.requests[i]];
      EXPECT_EQ(request.run, runs[i].row().id);
      EXPECT_EQ(opened_->prompt_of(request)->text,
                opened_->prompt_of(opened_->recording().requests[aligned.requests[0]])->text);
      const std::vector<std::int64_t> times = token_times_ns(*opened_, aligned.requests[i]);
      EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Recordings, testing::Range(1U, 7U));

TEST(OpenedRecording, RefusesWhatIsNoTraceInOneLine) {
  const traces::TestFolder folder;
  traces::write_file(folder / "not.dstrace", "nothing of the kind");
  const auto opened = OpenedRecording::open(folder / "not.dstrace");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, testing::HasSubstr("not.dstrace"));
  EXPECT_EQ(opened.error().message.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace draftscope::gui
