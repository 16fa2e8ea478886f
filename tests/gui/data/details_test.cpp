// SPDX-License-Identifier: GPL-3.0-or-later
// Compares what the details say about a slice, a round and a range of time with plain computations over the
// rows that were written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>

#include "data/details/draft_tree.h"
#include "data/details/range_profile.h"
#include "data/details/round_details.h"
#include "data/details/slice_details.h"
#include "data/lanes/load_recording.h"
#include "of_sample.h"

namespace draftscope::gui {
namespace {

bool always() {
  return true;
}
bool never() {
  return false;
}

std::int64_t overlap(TimeRange a, TimeRange b) {
  return std::max<std::int64_t>(0, std::min(a.end_ns, b.end_ns) - std::max(a.start_ns, b.start_ns));
}

/// The median; of an even number of values, the lower middle one.
std::int64_t median(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

/// Names of the nodes on the path from the track to this node.
std::vector<std::string> path_of(const RangeProfile& profile, std::size_t node) {
  std::vector<std::string> path;
  for (auto at = static_cast<std::uint32_t>(node); at != ProfileNode::none; at = profile.nodes[at].parent)
    path.insert(path.begin(), profile.nodes[at].name);
  return path;
}

void expect_conserved(const RangeProfile& profile) {
  std::vector<std::int64_t> of_children(profile.nodes.size());
  for (std::size_t i = 0; i < profile.nodes.size(); ++i)
    if (const std::uint32_t parent = profile.nodes[i].parent; parent != ProfileNode::none) {
      ASSERT_LT(parent, i);
      EXPECT_EQ(profile.nodes[i].depth, profile.nodes[parent].depth + 1);
      of_children[parent] += profile.nodes[i].total_ns;
    }
  for (std::size_t i = 0; i < profile.nodes.size(); ++i) {
    EXPECT_LE(of_children[i], profile.nodes[i].total_ns) << profile.nodes[i].name;
    EXPECT_EQ(of_children[i] + profile.nodes[i].self_ns, profile.nodes[i].total_ns) << profile.nodes[i].name;
    EXPECT_LE(profile.nodes[i].total_ns, profile.duration_ns);
  }
}

/// Attributed times add up to the union of the slices, by names and by slices.
void expect_attributed_once(const Timeline& timeline, const RangeProfile& profile, TimeRange range) {
  std::map<std::int64_t, std::vector<bool>> is_busy;
  std::int64_t by_slices = 0;
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane) {
    std::vector<bool>& busy = is_busy[timeline.lanes[lane].owner];
    busy.resize(static_cast<std::size_t>(range.end_ns));
    for (std::size_t i = 0; i < timeline.lanes[lane].slices.size(); ++i) {
      const TimeRange time = time_of(timeline, {lane, i});
      for (std::int64_t at = std::max(time.start_ns, range.start_ns);
           at < std::min(time.end_ns, range.end_ns); ++at)
        busy[static_cast<std::size_t>(at)] = true;
      by_slices += overlap({shared_until_ns(timeline, {lane, i}), time.end_ns}, range);
    }
  }
  std::int64_t all = 0;
  for (const auto& [owner, busy] : is_busy) all += std::count(busy.begin(), busy.end(), true);
  std::int64_t by_names = 0;
  for (const NameTotal& name : profile.names) by_names += name.attributed_ns;
  EXPECT_EQ(by_names, all);
  EXPECT_EQ(by_slices, all);
}

class Profiles : public testing::TestWithParam<unsigned> {
 protected:
  /// A track with slices anywhere in its lanes, nested or not.
  Timeline random_timeline() {
    Timeline timeline;
    timeline.names = {"a", "b", "c"};
    for (int track = 1; track <= 2; ++track)
      for (int depth = 0; depth < 4; ++depth) {
        Lane lane{.owner = track, .name = "track " + std::to_string(track), .depth = depth};
        std::int64_t time = static_cast<std::int64_t>(random_() % 30);
        while (time < 600) {
          const auto length = static_cast<std::int64_t>(random_() % 5 == 0 ? 0 : random_() % 40);
          lane.slices.add({.time = {time, time + length}, .name = static_cast<std::uint32_t>(random_() % 3)});
          time += length + static_cast<std::int64_t>(random_() % 2 == 0 ? 0 : random_() % 30);
        }
        lane.pyramid = BusyPyramid(lane.slices);
        timeline.lanes.push_back(std::move(lane));
      }
    return timeline;
  }

  TimeRange random_range() {
    const auto start = static_cast<std::int64_t>(random_() % 300);
    return {start, start + static_cast<std::int64_t>(random_() % 300)};
  }

  std::mt19937_64 random_{GetParam()};
};

TEST_P(Profiles, GiveEveryInstantToTheNamesThatAreOpen) {
  for (int trial = 0; trial < 20; ++trial) {
    const Timeline timeline = random_timeline();
    const TimeRange range = random_range();
    const auto profile = range_profile(timeline, range, always);
    ASSERT_TRUE(profile);
    expect_conserved(*profile);
    std::map<std::vector<std::string>, std::int64_t> expected;
    for (std::int64_t at = range.start_ns; at < range.end_ns; ++at)
      for (const std::string track : {"track 1", "track 2"}) {
        std::vector<std::string> open{track};
        for (const Lane& lane : timeline.lanes)
          for (std::size_t i = 0; i < lane.slices.size(); ++i)
            if (lane.name == track && lane.slices.start_ns(i) <= at && at < lane.slices.end_ns(i))
              open.push_back(timeline.names[lane.slices.name(i)]);
        // Time without an open slice does not count for the track.
        for (; open.size() > 1; open.pop_back()) ++expected[open];
        if (expected.contains({track, "a"}) || expected.contains({track, "b"}) ||
            expected.contains({track, "c"}))
          expected.try_emplace({track}, 0);
      }
    for (const std::string track : {"track 1", "track 2"}) {
      std::int64_t all = 0;
      for (const auto& [path, ns] : expected)
        if (path.size() == 2 && path[0] == track) all += ns;
      if (all > 0) expected[{track}] = all;
    }
    std::map<std::vector<std::string>, std::int64_t> found;
    for (std::size_t i = 0; i < profile->nodes.size(); ++i)
      if (profile->nodes[i].total_ns > 0) found[path_of(*profile, i)] += profile->nodes[i].total_ns;
    EXPECT_EQ(found, expected);
  }
}

TEST_P(Profiles, OfADeviceGiveEveryInstantToWhatBeganFirst) {
  for (int trial = 0; trial < 20; ++trial) {
    Timeline timeline = random_timeline();
    for (Lane& lane : timeline.lanes) lane.track_kind = "stream";
    const TimeRange range = random_range();
    const auto profile = range_profile(timeline, range, always);
    ASSERT_TRUE(profile);
    expect_conserved(*profile);
    std::map<std::vector<std::string>, std::int64_t> expected;
    for (std::int64_t at = range.start_ns; at < range.end_ns; ++at)
      for (const std::string track : {"track 1", "track 2"}) {
        std::optional<std::pair<std::int64_t, std::int64_t>> began;
        std::string name;
        for (const Lane& lane : timeline.lanes)
          for (std::size_t i = 0; i < lane.slices.size(); ++i)
            if (const std::pair time(lane.slices.start_ns(i), lane.slices.end_ns(i));
                lane.name == track && time.first <= at && at < time.second && (!began || time < *began)) {
              began = time;
              name = timeline.names[lane.slices.name(i)];
            }
        if (!began) continue;
        ++expected[{track}];
        ++expected[{track, name}];
      }
    std::map<std::vector<std::string>, std::int64_t> found;
    for (std::size_t i = 0; i < profile->nodes.size(); ++i)
      if (profile->nodes[i].total_ns > 0) found[path_of(*profile, i)] += profile->nodes[i].total_ns;
    EXPECT_EQ(found, expected);
    expect_attributed_once(timeline, *profile, range);
  }
}

TEST_P(Profiles, CountEverySliceOnceByItsName) {
  for (int trial = 0; trial < 20; ++trial) {
    const Timeline timeline = random_timeline();
    const TimeRange range = random_range();
    const auto profile = range_profile(timeline, range, always);
    ASSERT_TRUE(profile);
    std::map<std::uint32_t, NameTotal> expected;
    for (const Lane& lane : timeline.lanes)
      for (std::size_t i = 0; i < lane.slices.size(); ++i) {
        const TimeRange time{lane.slices.start_ns(i), lane.slices.end_ns(i)};
        const std::int64_t ns = overlap(time, range);
        // A slice of zero length at the very start has ended before the range.
        if (range.duration_ns() <= 0 || time.end_ns <= range.start_ns || time.start_ns >= range.end_ns)
          continue;
        NameTotal& total = expected[lane.slices.name(i)];
        ++total.count;
        total.total_ns += ns;
        total.max_ns = std::max(total.max_ns, ns);
      }
    ASSERT_EQ(profile->names.size(), expected.size());
    for (std::size_t i = 0; i < profile->names.size(); ++i) {
      const NameTotal& name = profile->names[i];
      if (i > 0) {
        EXPECT_LE(name.attributed_ns, profile->names[i - 1].attributed_ns);
      }
      EXPECT_LE(name.attributed_ns, name.total_ns);
      EXPECT_EQ(name.count, expected[name.name].count);
      EXPECT_EQ(name.total_ns, expected[name.name].total_ns);
      EXPECT_EQ(name.max_ns, expected[name.name].max_ns);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Profiles, testing::Range(1U, 6U));

class DrawerDetails : public OfSample, public testing::WithParamInterface<unsigned> {
 protected:
  void SetUp() override {
    load({.seed = GetParam(), .runs = 3, .requests_per_run = 4, .max_rounds = 40});
    for (const traces::Request& request : sample_.recording.requests) run_of_[request.id] = request.run_id;
  }

  std::map<traces::RequestId, traces::RunId> run_of_;
};

TEST_P(DrawerDetails, OfTheWholeTimeAddUpToTheUnionOfTheTracksSpans) {
  const auto profile = range_profile(*timeline_, timeline_->whole, always);
  ASSERT_TRUE(profile);
  expect_conserved(*profile);
  std::vector<TimeRange> spans;
  for (const traces::Span& span : sample_.spans) spans.push_back({span.start_ns, span.end_ns});
  std::sort(spans.begin(), spans.end(),
            [](const TimeRange& a, const TimeRange& b) { return a.start_ns < b.start_ns; });
  std::int64_t all = 0;
  std::int64_t end = 0;
  for (const TimeRange& span : spans) {
    all += std::max<std::int64_t>(0, span.end_ns - std::max(end, span.start_ns));
    end = std::max(end, span.end_ns);
  }
  std::map<std::string, std::int64_t> tracks;
  for (const ProfileNode& node : profile->nodes)
    if (node.depth == 0) tracks[node.name] += node.total_ns;
  EXPECT_EQ(tracks["decoding"], all);
  std::size_t counted = 0;
  for (const ProfileNode& node : profile->nodes)
    if (node.depth > 0) counted += node.count;
  const auto lasting = [&](const auto& rows) { return static_cast<std::size_t>(rows.size()); };
  EXPECT_LE(counted, lasting(sample_.spans) + lasting(sample_.kernels));
  EXPECT_GE(counted + 2, lasting(sample_.spans) + lasting(sample_.kernels))
      << "all but moments at the very ends";
  EXPECT_TRUE(range_profile(*timeline_, {}, always)->nodes.empty());
}

TEST_P(DrawerDetails, OfASpanRankItAmongThoseOfItsNamePhaseAndRun) {
  std::map<std::int64_t, const traces::Span*> spans;
  for (const traces::Span& span : sample_.spans) spans[span.id.value()] = &span;
  std::mt19937_64 random(GetParam());
  for (std::size_t lane = 0; lane < timeline_->lanes.size(); ++lane) {
    const Lane& of = timeline_->lanes[lane];
    if (of.track_kind != "host" || of.slices.size() == 0) continue;
    for (int trial = 0; trial < 25; ++trial) {
      const SlicePlace place{lane, random() % of.slices.size()};
      const auto details = slice_details(*opened_, *timeline_, place, always);
      ASSERT_TRUE(details);
      const traces::Span& span = *spans.at(of.slices.row_id(place.slice));
      EXPECT_EQ(details->name, sample_.strings[static_cast<std::size_t>(span.name_id.value()) - 1]);
      EXPECT_EQ(details->layer, span.layer);
      EXPECT_EQ(opened_->runs()[details->run_index].run->id, run_of_.at(span.request_id));
      ASSERT_TRUE(details->request_index);
      EXPECT_EQ(opened_->recording().requests[*details->request_index].id, span.request_id);
      std::vector<std::int64_t> kind;
      for (const traces::Span& other : sample_.spans)
        if (other.name_id == span.name_id && other.phase == span.phase &&
            run_of_.at(other.request_id) == run_of_.at(span.request_id))
          kind.push_back(other.end_ns - other.start_ns);
      EXPECT_EQ(details->kind_size, kind.size());
      EXPECT_EQ(details->kind_median_ns, median(kind));
      EXPECT_EQ(details->kind_longest_ns, *std::max_element(kind.begin(), kind.end()));
      EXPECT_EQ(details->rank,
                1U + static_cast<std::size_t>(std::count_if(kind.begin(), kind.end(), [&](std::int64_t ns) {
                  return ns > span.end_ns - span.start_ns;
                })));
      ASSERT_TRUE(details->parent);
      const Lane& above = timeline_->lanes[details->parent->lane];
      const std::int64_t parent = above.slices.row_id(details->parent->slice);
      if (span.parent_id != 0) {
        EXPECT_EQ(parent, span.parent_id.value());
        EXPECT_LE(details->time.duration_ns(), above.slices.end_ns(details->parent->slice) -
                                                   above.slices.start_ns(details->parent->slice));
      } else {
        EXPECT_EQ(parent, span.round_id != 0 ? span.round_id.value() : span.request_id.value());
      }
      EXPECT_LE(details->inside_ns, details->time.duration_ns());
    }
  }
}

TEST_P(DrawerDetails, OfAKernelHaveTheSpanThatLaunchedItAsParent) {
  std::map<std::int64_t, std::int64_t> launcher;
  for (const traces::Kernel& kernel : sample_.kernels) launcher[kernel.id.value()] = kernel.span_id.value();
  for (std::size_t lane = 0; lane < timeline_->lanes.size(); ++lane) {
    const Lane& of = timeline_->lanes[lane];
    if (of.track_kind != "stream") continue;
    for (std::size_t slice = 0; slice < std::min<std::size_t>(of.slices.size(), 20); ++slice) {
      const auto parent = parent_of(*opened_, *timeline_, {lane, slice});
      ASSERT_TRUE(parent);
      EXPECT_EQ(timeline_->lanes[parent->lane].slices.row_id(parent->slice),
                launcher.at(of.slices.row_id(slice)));
    }
  }
}

TEST_P(DrawerDetails, OfARoundStandBesideTheRoundsOfItsRunWithAsManyRows) {
  const OpenedRecording& opened = *opened_;
  const auto count = static_cast<std::uint32_t>(opened.recording().rounds.size());
  for (std::uint32_t index = 0; index < count; index += 7) {
    const auto details = round_details(opened, index, always);
    ASSERT_TRUE(details);
    const traces::Round& round = opened.round(index);
    std::vector<std::int64_t> lengths;
    std::array<std::vector<std::int64_t>, round_parts> parts;
    for (const traces::Round& other : opened.recording().rounds) {
      if (run_of_.at(other.request_id) != run_of_.at(round.request_id) ||
          other.verify_rows != round.verify_rows)
        continue;
      lengths.push_back(other.end_ns - other.start_ns);
      const PartTimes times = part_times(other);
      for (std::size_t part = 0; part < round_parts; ++part) parts[part].push_back(times[part]);
    }
    EXPECT_EQ(details->like_rounds, lengths.size());
    EXPECT_EQ(details->like_median_ns, median(lengths));
    for (std::size_t part = 0; part < round_parts; ++part)
      EXPECT_EQ(details->like_medians[part], median(parts[part]));
    EXPECT_EQ(details->parts, part_times(round));
    EXPECT_EQ(details->rank,
              1U + static_cast<std::size_t>(std::count_if(lengths.begin(), lengths.end(), [&](auto ns) {
                return ns > round.end_ns - round.start_ns;
              })));
    ASSERT_EQ(details->tokens.size(), static_cast<std::size_t>(round.drafted));
    int accepted = 0;
    bool has_rejected = false;
    for (const DraftedToken& token : details->tokens) {
      EXPECT_FALSE(has_rejected && token.fate == DraftFate::accepted) << "nothing after a rejection";
      accepted += token.fate == DraftFate::accepted ? 1 : 0;
      has_rejected = has_rejected || token.fate == DraftFate::rejected;
      ASSERT_EQ(token.is_confident.has_value(), round.threshold >= 0.0);
      if (token.is_confident) {
        EXPECT_EQ(*token.is_confident, token.confidence >= round.threshold);
      }
    }
    EXPECT_EQ(accepted, round.accepted);
    EXPECT_EQ(details->skipped.has_value(), opened.layer_set(index) != nullptr);
    if (details->skipped) {
      // The layer sets of the sample skip all layers from an exit layer on.
      std::vector<std::int32_t> expected;
      for (std::int32_t layer = round.exit_layer; layer < details->skipped->n_layers; ++layer)
        expected.push_back(layer);
      EXPECT_EQ(details->skipped->attention, expected);
      EXPECT_EQ(details->skipped->mlp, expected);
    }
  }
}

TEST_P(DrawerDetails, AreGivenUpWhenNobodyWaits) {
  EXPECT_FALSE(round_details(*opened_, 0, never));
  std::size_t lane = 0;
  while (timeline_->lanes[lane].slices.size() == 0) ++lane;
  EXPECT_FALSE(slice_details(*opened_, *timeline_, {lane, 0}, never));
}

TEST_P(DrawerDetails, OfDraftStepsFindEachTokenOfTheTreeOnce) {
  const OpenedRecording& opened = *opened_;
  for (std::uint32_t index = 0; index < opened.recording().rounds.size(); ++index) {
    const auto tokens = opened.draft_tokens(index);
    std::vector<int> seen(tokens.size());
    for (std::size_t step = 0; step <= tokens.size(); ++step)
      for (const std::size_t token : tokens_of_step(opened, index, step)) {
        ++seen[token];
        std::size_t depth = 0;
        for (std::int32_t at = tokens[token].parent; at >= 0;
             at = tokens[static_cast<std::size_t>(at)].parent)
          ++depth;
        EXPECT_EQ(depth, step);
      }
    EXPECT_THAT(seen, testing::Each(1));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, DrawerDetails, testing::Range(1U, 4U));

TEST(KernelDetails, FindTheCallThatLaunchedIt) {
  const traces::TestFolder folder;
  const auto path = folder / "calls.dstrace";
  traces::make_sample_file(path, {.seed = 2});
  // Every kernel gets a call that begins with its span.
  traces::change(path,
                 "UPDATE kernels SET correlation_id = id;"
                 "INSERT INTO tracks (id, kind, name, sort) VALUES (1000, 'calls', 'CUDA calls', 0);"
                 "INSERT INTO strings VALUES (100000, '[cuLaunchKernel]');"
                 "CREATE TEMP TABLE calls AS SELECT * FROM kernels;"
                 "UPDATE calls SET id = id + 100000, track = 1000, short_name = 100000, block_x = 0,"
                 "  start_ns = (SELECT start_ns FROM spans WHERE id = span);"
                 "UPDATE calls SET end_ns = start_ns + 1000;"
                 "INSERT INTO kernels SELECT * FROM calls");
  const auto loaded = load_recording(path);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Timeline& timeline = *loaded->timeline;
  int kernels = 0;
  for (std::size_t lane = 0; lane < timeline.lanes.size(); ++lane)
    for (std::size_t slice = 0; slice < timeline.lanes[lane].slices.size(); slice += 7) {
      const auto call = call_of(*loaded->recording, timeline, {lane, slice});
      EXPECT_EQ(call.has_value(), timeline.lanes[lane].track_kind == "stream");
      if (!call) continue;
      ++kernels;
      EXPECT_EQ(timeline.lanes[call->lane].track_kind, "calls");
      EXPECT_EQ(timeline.lanes[call->lane].slices.row_id(call->slice),
                timeline.lanes[lane].slices.row_id(slice) + 100'000U);
      const auto details = slice_details(*loaded->recording, timeline, {lane, slice}, always);
      ASSERT_TRUE(details);
      EXPECT_EQ(details->call, call);
      EXPECT_EQ(details->kernel->registers_per_thread, 96);
    }
  EXPECT_GT(kernels, 3);
}

TEST(RangesText, JoinsNumbersThatFollowOneAnother) {
  EXPECT_EQ(ranges_text({}), "");
  EXPECT_EQ(ranges_text({3}), "3");
  EXPECT_EQ(ranges_text({0, 1, 2, 5, 7, 8}), "0–2, 5, 7–8");
}

}  // namespace
}  // namespace draftscope::gui
