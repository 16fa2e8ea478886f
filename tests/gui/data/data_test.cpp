// SPDX-License-Identifier: GPL-3.0-or-later
// Compares what the app shows with plain computations over all rows.
#include <gtest/gtest.h>

#include <draftscope/simulator/analysis/figures.h>

#include <atomic>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "data/details/replayed_text.h"
#include "data/details/run_comparison.h"
#include "data/id_index.h"
#include "data/lanes/lane_builder.h"
#include "data/lanes/load_recording.h"
#include "data/lanes/timeline.h"
#include "data/opened_recording.h"
#include "data/rounds/round_times.h"
#include "data/skip_pyramid.h"
#include "of_sample.h"

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
      // A slice of zero length at the very start has ended before the range.
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

TEST_P(Lanes, AreFoundFromASliceNearbyAsFromTheFirst) {
  std::mt19937_64 random(GetParam() + 2);
  const LaneSlices slices = random_lane(random, GetParam());
  const std::int64_t end = slices.size() > 0 ? slices.end_ns(slices.size() - 1) + 100 : 1000;
  for (int trial = 0; trial < 300; ++trial) {
    const auto time = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    std::size_t ending = 0;
    while (ending < slices.size() && slices.end_ns(ending) <= time) ++ending;
    std::size_t starting = 0;
    while (starting < slices.size() && slices.start_ns(starting) < time) ++starting;
    EXPECT_EQ(slices.first_ending_after(time), ending);
    EXPECT_EQ(slices.first_ending_after(time, random() % (ending + 1)), ending);
    EXPECT_EQ(slices.first_starting_at(time), starting);
    EXPECT_EQ(slices.first_starting_at(time, random() % (starting + 1)), starting);
  }
}

TEST_P(Lanes, AreAboutAsBusyFromAfarAndPixelsAddUp) {
  std::mt19937_64 random(GetParam() + 3);
  const LaneSlices slices = random_lane(random, GetParam());
  const BusyPyramid pyramid(slices);
  if (slices.size() == 0) return;
  const std::int64_t end = slices.end_ns(slices.size() - 1) + 100;
  for (const std::int64_t pixels : {1, 3, 7}) {
    BusySummary all;
    std::size_t near = 0;
    bool are_all_far = true;
    for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
      const TimeRange range{end * pixel / pixels, end * (pixel + 1) / pixels};
      const BusySummary exact = pyramid.summarise(slices, range);
      const auto far = pyramid.from_afar(range, near);
      are_all_far = are_all_far && far.has_value();
      if (!far) {
        EXPECT_LT(exact.slices, 10 * BusyPyramid::block) << "many slices are not walked";
        continue;
      }
      // The range cuts two blocks, and no slice of the lane is longer than 100.
      EXPECT_NEAR(static_cast<double>(far->busy_ns()), static_cast<double>(exact.busy_ns()),
                  0.3 * static_cast<double>(exact.busy_ns()));
      EXPECT_GE(exact.longest_ns, far->longest_ns);
      EXPECT_EQ(far->longest_ns, slices.end_ns(far->longest) - slices.start_ns(far->longest));
      for (std::size_t phase = 0; phase < all.by_phase_ns.size(); ++phase)
        all.by_phase_ns[phase] += far->by_phase_ns[phase];
    }
    const BusySummary whole = pyramid.summarise(slices, {0, end});
    for (std::size_t phase = 0; are_all_far && phase < all.by_phase_ns.size(); ++phase)
      EXPECT_NEAR(static_cast<double>(all.by_phase_ns[phase]), static_cast<double>(whole.by_phase_ns[phase]),
                  static_cast<double>(pixels));
  }
}

TEST(LanesOfManyKinds, KeepWhatTheirSlicesAreHoweverTheyArePutTogether) {
  constexpr std::uint32_t names = 70'000;  // more than 16 bits can count
  const auto slice_of = [](std::uint32_t i) {
    return LaneSlice{.time = {i, i + 1},
                     .name = i % names,
                     .layer = static_cast<std::int16_t>(i % 7 - 1),
                     .phase = static_cast<traces::Phase>(i % traces::phase_count)};
  };
  LaneSlices slices;
  LaneSlices later;
  for (std::uint32_t i = 0; i < 80'000; ++i) slices.add(slice_of(i));
  for (std::uint32_t i = 80'000; i < 160'000; ++i) later.add(slice_of(i));
  slices.append(std::move(later));
  std::vector<std::uint32_t> order(slices.size());
  std::iota(order.rbegin(), order.rend(), 0U);
  const LaneSlices turned = slices.reordered(order);
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const LaneSlice expected = slice_of(i);
    for (const LaneSlice& slice : {slices[i], turned[slices.size() - 1 - i]}) {
      ASSERT_EQ(slice.name, expected.name) << i;
      ASSERT_EQ(slice.layer, expected.layer) << i;
      ASSERT_EQ(slice.phase, expected.phase) << i;
    }
  }
}

TEST(LanesOfLongSlices, KeepTheirTimesHoweverTheyArePutTogether) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::vector<TimeRange> times{{0, 5},
                                     {10, 10 + 4'294'967'294},
                                     {5 * second, 5 * second + 4'294'967'295},
                                     {10 * second, 10 * second + 4'294'967'296},
                                     {20 * second, 900 * second}};
  const auto add_all = [&](LaneSlices& slices, std::int64_t by) {
    for (const TimeRange& time : times)
      slices.add({.time = {time.start_ns + by, time.end_ns + by}, .phase = traces::Phase::draft});
  };
  LaneSlices slices;
  LaneSlices later;
  add_all(slices, 0);
  add_all(later, 1000 * second);
  slices.append(std::move(later));
  ASSERT_EQ(slices.size(), 2 * times.size());
  const LaneSlices turned = slices.reordered({4, 0, 9, 3, 2});
  EXPECT_EQ(turned[0].time, times[4]);
  EXPECT_EQ(turned[1].time, times[0]);
  EXPECT_EQ(turned[2].time, (TimeRange{1020 * second, 1900 * second}));
  EXPECT_EQ(turned[3].time, times[3]);
  EXPECT_EQ(turned[4].time, times[2]);
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(slices[i].time, times[i]);
    EXPECT_EQ(slices[times.size() + i].time.end_ns, times[i].end_ns + 1000 * second);
    EXPECT_EQ(slices.first_ending_after(times[i].end_ns - 1), i);
    EXPECT_EQ(slices.first_ending_after(times[i].end_ns), i + 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Lanes, testing::Values(0, 1, 2, 63, 64, 65, 700, 4096, 9000));

class Recordings : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override { open({.seed = GetParam(), .runs = 3, .requests_per_run = 4, .max_rounds = 200}); }
};

TEST_P(Recordings, HaveEachRoundOnceInTheOrderOfItsRun) {
  std::size_t all = 0;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) {
    std::int64_t before = 0;
    for (std::size_t place = 0; place < opened_->runs()[run].rounds.size(); ++place) {
      const std::uint32_t round = opened_->runs()[run].rounds[place];
      EXPECT_EQ(opened_->run_of(round), run);
      EXPECT_EQ(opened_->place_in_run(round), place);
      EXPECT_EQ(opened_->request_of(round).id, opened_->round(round).request_id);
      EXPECT_GE(opened_->round(round).start_ns, before);
      before = opened_->round(round).start_ns;
      EXPECT_EQ(opened_->draft_tokens(round).size(), static_cast<std::size_t>(opened_->round(round).drafted));
      for (const traces::DraftToken& token : opened_->draft_tokens(round))
        EXPECT_EQ(token.round_id, opened_->round(round).id);
      ++all;
    }
  }
  EXPECT_EQ(all, opened_->recording().rounds.size());
}

TEST_P(Recordings, ShowEverySpanAndKernelOnceInLanesWithoutOverlap) {
  const auto loaded = load_recording(path_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Timeline& timeline = *loaded->timeline;
  std::size_t on_tracks = 0;
  std::size_t rounds = 0;
  std::size_t requests = 0;
  std::map<std::int64_t, std::int64_t> spans;  // start by span id
  for (const Lane& lane : timeline.lanes) {
    if (lane.kind == LaneKind::track) on_tracks += lane.slices.size();
    if (lane.kind == LaneKind::requests) requests += lane.slices.size();
    for (std::size_t i = 0; i < lane.slices.size(); ++i) {
      if (i > 0) {
        EXPECT_GE(lane.slices.start_ns(i), lane.slices.end_ns(i - 1)) << lane.name;
      }
      const LaneSlice slice = lane.slices[i];
      if (lane.kind == LaneKind::track && lane.track_kind == "host")
        spans[slice.row_id] = slice.time.start_ns;
      if (lane.kind != LaneKind::rounds) continue;
      ++rounds;
      ASSERT_LT(slice.round_index, loaded->recording->recording().rounds.size());
      EXPECT_EQ(loaded->recording->round(slice.round_index).id.value(), slice.row_id);
    }
  }
  EXPECT_EQ(rounds, sample_.recording.rounds.size());
  EXPECT_EQ(requests, sample_.recording.requests.size());
  EXPECT_EQ(on_tracks, sample_.spans.size() + sample_.kernels.size());
  EXPECT_EQ(spans.size(), sample_.spans.size());
  for (const traces::Span& span : sample_.spans) EXPECT_EQ(spans[span.id.value()], span.start_ns);
  std::size_t counters = 0;
  for (const CounterLane& lane : timeline.counters) counters += lane.value.size();
  EXPECT_EQ(counters, sample_.counters.size());
  const auto launched = std::count_if(sample_.kernels.begin(), sample_.kernels.end(),
                                      [](const traces::Kernel& kernel) { return kernel.span_id != 0; });
  EXPECT_EQ(timeline.launches.size(), static_cast<std::size_t>(launched));
}

TEST_P(Recordings, TellTheSameWhetherReadByOneThreadOrTwo) {
  const auto loaded = load_recording(path_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto& expected = opened_->measured().figures.runs;
  const auto& found = loaded->recording->measured().figures.runs;
  ASSERT_EQ(found.size(), expected.size());
  const auto expect_same = [](const simulator::Figures& a, const simulator::Figures& b) {
    EXPECT_EQ(a.breakdown.source, b.breakdown.source);
    EXPECT_EQ(a.breakdown.by_phase, b.breakdown.by_phase);
    EXPECT_EQ(a.throughput.tokens_per_second, b.throughput.tokens_per_second);
    EXPECT_EQ(a.acceptance.acceptance_rate, b.acceptance.acceptance_rate);
    EXPECT_EQ(a.acceptance.tested_rate, b.acceptance.tested_rate);
    EXPECT_EQ(a.cost.c, b.cost.c);
    EXPECT_EQ(a.device.busy_ns, b.device.busy_ns);
    EXPECT_EQ(a.device.activities, b.device.activities);
  };
  for (std::size_t run = 0; run < expected.size(); ++run) {
    expect_same(found[run].all, expected[run].all);
    ASSERT_EQ(found[run].by_category.size(), expected[run].by_category.size());
    for (std::size_t i = 0; i < expected[run].by_category.size(); ++i)
      expect_same(found[run].by_category[i], expected[run].by_category[i]);
  }
  EXPECT_EQ(loaded->recording->warnings(), opened_->warnings());
  EXPECT_EQ(loaded->recording->whole(), opened_->whole());
}

TEST_P(Recordings, CanBeCancelledAtAnyTime) {
  std::atomic<bool> cancelled{true};
  EXPECT_FALSE(load_recording(path_, cancelled, {}));
  cancelled = false;
  const auto loaded = load_recording(path_, cancelled, [&](std::int64_t, std::int64_t) { cancelled = true; });
  // Progress is reported once per many rows, so a small file may be read before the first report.
  EXPECT_EQ(static_cast<bool>(loaded), !cancelled);
}

void expect_same_figures(const simulator::Figures& a, const simulator::Figures& b) {
  EXPECT_EQ(a.throughput.requests, b.throughput.requests);
  EXPECT_EQ(a.throughput.output_tokens, b.throughput.output_tokens);
  EXPECT_EQ(a.throughput.tokens_per_second, b.throughput.tokens_per_second);
  EXPECT_EQ(a.acceptance.rounds, b.acceptance.rounds);
  EXPECT_EQ(a.acceptance.acceptance_rate, b.acceptance.acceptance_rate);
  EXPECT_EQ(a.acceptance.mean_accepted_length, b.acceptance.mean_accepted_length);
  EXPECT_EQ(a.acceptance.emitted_per_round, b.acceptance.emitted_per_round);
  EXPECT_EQ(a.acceptance.steps_per_round, b.acceptance.steps_per_round);
  EXPECT_EQ(a.layers.etpl, b.layers.etpl);
  EXPECT_EQ(a.layers.etpl_pooled, b.layers.etpl_pooled);
  EXPECT_EQ(a.cost.target_step, b.cost.target_step);
  EXPECT_EQ(a.cost.c, b.cost.c);
  EXPECT_EQ(a.cost.v, b.cost.v);
  EXPECT_EQ(a.cost.o, b.cost.o);
  EXPECT_EQ(a.cost.closed_form_speedup, b.cost.closed_form_speedup);
  EXPECT_EQ(a.speedup.has_value(), b.speedup.has_value());
  if (a.speedup && b.speedup) {
    EXPECT_EQ(a.speedup->value, b.speedup->value);
  }
  EXPECT_EQ(a.identity.has_value(), b.identity.has_value());
}

TEST_P(Recordings, AreSummedUpByTheirOverviewAsByTheirRows) {
  const auto overview = read_overview(path_);
  ASSERT_TRUE(overview);
  EXPECT_FALSE(overview->recording->has_rows());
  EXPECT_TRUE(overview->recording->recording().rounds.empty());
  EXPECT_EQ(overview->recording->round_count(), opened_->recording().rounds.size());
  const auto& expected = opened_->measured().figures;
  const auto& found = overview->recording->measured().figures;
  ASSERT_EQ(found.runs.size(), expected.runs.size());
  EXPECT_EQ(found.baseline == nullptr, expected.baseline == nullptr);
  for (std::size_t i = 0; i < found.runs.size(); ++i) {
    const simulator::Figures& a = found.runs[i].all;
    const simulator::Figures& b = expected.runs[i].all;
    expect_same_figures(a, b);
    // Spans are not read here, so the breakdown is computed from the rounds' own times.
    const auto by_rounds = simulator::measure(opened_->recording()).runs[i].all.breakdown;
    EXPECT_EQ(a.breakdown.source, by_rounds.source);
    EXPECT_EQ(a.breakdown.by_phase, by_rounds.by_phase);

    const RoundsOfRun strip = overview->recording->rounds_of_run(i);
    const RoundsOfRun rounds = opened_->rounds_of_run(i);
    ASSERT_EQ(strip.emitted_before.size(), rounds.emitted_before.size());
    EXPECT_EQ(strip.emitted_before.back(), rounds.emitted_before.back());
    EXPECT_EQ(strip.max_emitted, rounds.max_emitted);
    EXPECT_TRUE(std::is_sorted(strip.emitted_before.begin(), strip.emitted_before.end()));
  }
}

TEST_P(Recordings, AreAsBusyInTheirOverviewAsInTheirSlices) {
  const auto overview = read_overview(path_);
  const auto loaded = load_recording(path_);
  ASSERT_TRUE(overview && loaded);
  std::map<std::pair<LaneKind, std::string>, std::array<double, 2>> busy;
  for (const Lane& lane : overview->timeline->lanes) {
    EXPECT_FALSE(lane.columns.empty());
    for (const double ns : lane.columns.summarise(lane.columns.whole()))
      busy[{lane.kind, lane.name}][0] += ns;
  }
  for (const Lane& lane : loaded->timeline->lanes)
    busy[{lane.kind, lane.name}][1] +=
        static_cast<double>(lane.pyramid.summarise(lane.slices, loaded->timeline->whole).busy_ns());
  EXPECT_FALSE(busy.empty());
  for (const auto& [lane, ns] : busy) EXPECT_NEAR(ns[0], ns[1], 1e-4 * ns[1] + 1.0) << lane.second;
}

TEST_P(Recordings, ThatContradictTheirOverviewAreShownByTheirRows) {
  traces::change(path_,
                 "UPDATE request_sums SET accepted = 0; UPDATE round_columns SET emitted = 0; "
                 "DELETE FROM lane_columns");
  const auto overview = read_overview(path_);
  ASSERT_TRUE(overview);
  const auto loaded = load_recording(path_);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run)
    EXPECT_EQ(loaded->recording->measured().figures.runs[run].all.acceptance.acceptance_rate,
              opened_->measured().figures.runs[run].all.acceptance.acceptance_rate);
  for (const char* damage :
       {"UPDATE meta SET value = 'x' WHERE key = 'overview_column_ns'", "UPDATE request_sums SET rounds = -1",
        "UPDATE round_columns SET rounds = 4611686018427387904 WHERE run = 1",
        "UPDATE request_sums SET drafted = 4611686018427387904", "DELETE FROM round_columns"}) {
    traces::change(path_, damage);
    const auto damaged = read_overview(path_);
    if (damaged) {
      EXPECT_LT(damaged->recording->round_count(), std::size_t{1} << 25U);
    }
    EXPECT_TRUE(load_recording(path_)) << damage;
  }
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
      if (i > 0 && token.round_index != no_index && token.origin == TokenOrigin::accepted) ++accepted;
      if (token.draft_index != no_index) {
        EXPECT_TRUE(opened_->recording().draft_tokens[token.draft_index].accepted);
      }
    }
    std::size_t rejected = 0;
    for (const RejectedDraft& draft : text.rejected) {
      EXPECT_LE(draft.after, text.tokens.size());
      rejected += draft.drafts.size();
    }
    std::size_t all_rejected = 0;
    for (std::uint32_t round = 0; round < opened_->recording().rounds.size(); ++round)
      if (opened_->round(round).request_id == text.request->id)
        for (const traces::DraftToken& token : opened_->draft_tokens(round))
          all_rejected += token.accepted ? 0 : 1;
    EXPECT_EQ(rejected, all_rejected);
  }
}

TEST_P(Recordings, CountTheRequestsThatAllRunsDecoded) {
  std::vector<ComparedRun> runs;
  for (std::size_t run = 0; run < opened_->runs().size(); ++run) runs.push_back({opened_, run});
  const RunsComparison comparison = compare(runs, 0);
  ASSERT_EQ(comparison.runs.size(), runs.size());
  EXPECT_TRUE(comparison.runs[0].is_baseline);
  // Each run keeps those requests of the baseline with which it can be paired.
  const std::vector<simulator::RunRows> rows = simulator::rows_by_run(opened_->recording());
  std::set<const traces::Request*> shared;
  for (const simulator::RequestRows& request : rows[0].requests) shared.insert(request.request);
  for (std::size_t run = 1; run < rows.size(); ++run) {
    std::set<const traces::Request*> paired;
    for (const simulator::RequestPair& pair :
         simulator::pair_requests(simulator::Baseline(rows[0]), simulator::Comparison(rows[run])).pairs)
      paired.insert(pair.baseline);
    std::erase_if(shared, [&](const traces::Request* request) { return !paired.contains(request); });
  }
  EXPECT_EQ(comparison.shared_requests, shared.size());
  EXPECT_GT(comparison.shared_requests, 0U);
}

TEST(BusyColumns, SumUpToTheirPartsOverAnyStretch) {
  std::mt19937_64 random(7);
  BusyColumns columns(64);
  std::map<std::int64_t, std::array<double, traces::phase_count>> plain;
  for (std::int64_t column = 0; column < 200; ++column)
    for (int phase = 0; phase < traces::phase_count; ++phase) {
      if (random() % 5 != 0) continue;
      const auto ns = static_cast<std::int64_t>(1 + random() % 64);
      columns.add(64 * column, static_cast<traces::Phase>(phase), ns);
      plain[64 * column][static_cast<std::size_t>(phase)] += static_cast<double>(ns);
    }
  for (int trial = 0; trial < 300; ++trial) {
    const auto start = static_cast<std::int64_t>(random() % 13000);
    const TimeRange range{start,
                          start + static_cast<std::int64_t>(1 + random() % (trial % 2 == 0 ? 100 : 9000))};
    BusyColumns::ByPhase expected{};
    for (const auto& [at, ns] : plain) {
      const auto overlap = std::min(at + 64, range.end_ns) - std::max(at, range.start_ns);
      for (std::size_t phase = 0; phase < expected.size(); ++phase)
        if (overlap > 0) expected[phase] += ns[phase] * static_cast<double>(overlap) / 64.0;
    }
    const BusyColumns::ByPhase found = columns.summarise(range);
    for (std::size_t phase = 0; phase < expected.size(); ++phase)
      EXPECT_NEAR(found[phase], expected[phase], 1e-6 * expected[phase] + 1e-9);
  }
}

TEST(IdIndex, FindsEveryIdWhetherTheyAreDenseOrNot) {
  std::mt19937_64 random(3);
  for (const std::uint64_t spread : {1U, 3U, 1000U, 1U << 30U}) {
    std::vector<std::int64_t> ids;
    std::int64_t id = 1;
    for (int i = 0; i < 500; ++i) ids.push_back(id += 1 + static_cast<std::int64_t>(random() % spread));
    std::shuffle(ids.begin(), ids.end(), random);
    const IdIndex<traces::RoundId> index(ids, [](std::int64_t row) { return traces::RoundId::from(row); });
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(index[traces::RoundId::from(ids[i])], i);
    for (int i = 0; i < 500; ++i) {
      const auto other = static_cast<std::int64_t>(random() % (501 * spread + 2));
      const auto found = std::find(ids.begin(), ids.end(), other);
      EXPECT_EQ(index[traces::RoundId::from(other)],
                found == ids.end() ? no_index : static_cast<std::uint32_t>(found - ids.begin()));
    }
  }
  EXPECT_EQ(IdIndex<traces::RoundId>()[1], no_index);
}

class RequestsById : public OfSample {};

TEST_F(RequestsById, AreFoundInWhateverOrderTheyStarted) {
  open({.seed = 2, .runs = 2},
       "UPDATE requests SET start_ns = (SELECT min(start_ns) + max(start_ns) FROM requests) - start_ns");
  const std::vector<traces::Request>& requests = opened_->recording().requests;
  ASSERT_FALSE(std::ranges::is_sorted(requests, {}, &traces::Request::id));
  for (const traces::Request& request : requests) EXPECT_EQ(opened_->request_with(request.id), &request);
  EXPECT_EQ(opened_->request_with(traces::RequestId::from(1'000'000)), nullptr);
}

TEST(LaneBuilder, MakesTheSameLanesOfTwoPartsAsOfTheWholeInAnyOrder) {
  std::mt19937_64 random(11);
  const traces::Recording recording;
  const LaneNames names({});
  for (const bool is_sorted : {true, false}) {
    std::vector<LaneSlice> slices;
    std::int64_t time = 0;
    for (std::int64_t id = 1; id <= 3000; ++id) {
      time += static_cast<std::int64_t>(random() % 20);
      const auto duration = static_cast<std::int64_t>(random() % (is_sorted ? 10 : 60));
      slices.push_back({.time = {time, time + duration}, .round_index = 0, .row_id = id});
      if (is_sorted) time += duration;
    }
    if (!is_sorted) std::shuffle(slices.begin(), slices.end(), random);
    LaneBuilder whole;
    LaneBuilder first;
    LaneBuilder second;
    for (std::size_t i = 0; i < slices.size(); ++i) {
      whole.add({LaneKind::track, 1}, 0, slices[i]);
      (i < 1000 ? first : second).add({LaneKind::track, 1}, 0, slices[i]);
    }
    first.add(std::move(second));
    const Timeline a = std::move(whole).finish(recording, names, {});
    const Timeline b = std::move(first).finish(recording, names, {});
    ASSERT_EQ(a.lanes.size(), b.lanes.size());
    EXPECT_EQ(a.slices(), slices.size());
    for (std::size_t lane = 0; lane < a.lanes.size(); ++lane) {
      ASSERT_EQ(a.lanes[lane].slices.size(), b.lanes[lane].slices.size());
      for (std::size_t i = 0; i < a.lanes[lane].slices.size(); ++i) {
        EXPECT_EQ(a.lanes[lane].slices.row_id(i), b.lanes[lane].slices.row_id(i));
        if (i > 0) {
          EXPECT_GE(a.lanes[lane].slices.start_ns(i), a.lanes[lane].slices.end_ns(i - 1));
        }
      }
    }
    if (is_sorted) {
      EXPECT_EQ(a.lanes.size(), 1U);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Recordings, testing::Range(1U, 7U));

}  // namespace
}  // namespace draftscope::gui
