// SPDX-License-Identifier: GPL-3.0-or-later
// Perfetto opens a wrong file without a warning (a missing parent loses a track, an overlap changes
// durations). Therefore protoc's code decodes the export, and the test compares it with the recording in
// everything that could go wrong.
#include <draftscope/traces/exporters.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "../value_of.h"
#include "sample.h"
#include "trace_event.pb.h"

namespace draftscope::traces {
namespace {

struct DecodedSlice {
  std::string name;
  std::string category;
  std::map<std::string, std::int64_t> numbers;
  std::set<std::uint64_t> flows, terminating_flows;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = -1;
  std::size_t depth = 0;
  std::uint64_t track = 0;
};

struct Decoded {
  std::vector<DecodedSlice> slices;
  std::vector<std::pair<std::int64_t, double>> counters;
  std::map<std::uint64_t, test::TrackDescriptor> tracks;
  std::size_t open = 0;
};

/// Decodes as a consumer would, and fails the test wherever a consumer would silently be wrong.
Decoded decode(const std::filesystem::path& path) {
  test::Trace trace;
  EXPECT_TRUE(trace.ParseFromString(read_file(path)));
  Decoded decoded;
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::vector<std::size_t>> open;
  std::map<std::uint64_t, std::int64_t> last_ns;
  bool first = true;
  for (const test::TracePacket& packet : trace.packet()) {
    EXPECT_EQ(packet.trusted_packet_sequence_id(), 1U);
    EXPECT_EQ(packet.sequence_flags(), first ? 3U : 2U);
    EXPECT_EQ(packet.first_packet_on_sequence(), first);
    first = false;
    for (const test::EventName& name : packet.interned_data().event_names())
      EXPECT_TRUE(names.emplace(name.iid(), name.name()).second) << "a name is interned once";
    if (packet.has_track_descriptor()) {
      const test::TrackDescriptor& track = packet.track_descriptor();
      EXPECT_TRUE(decoded.tracks.emplace(track.uuid(), track).second) << "a track is described once";
      if (track.has_parent_uuid()) {
        EXPECT_TRUE(decoded.tracks.contains(track.parent_uuid()));
      }
    }
    if (!packet.has_track_event()) continue;
    const test::TrackEvent& event = packet.track_event();
    const auto time_ns = static_cast<std::int64_t>(packet.timestamp());
    const std::uint64_t track = event.track_uuid();
    EXPECT_TRUE(decoded.tracks.contains(track)) << "a track is described before its events";
    EXPECT_GE(time_ns, last_ns[track]) << "time does not run backwards on a track";
    last_ns[track] = time_ns;
    EXPECT_EQ(decoded.tracks.at(track).has_counter(), event.type() == test::TrackEvent::COUNTER);
    if (event.type() == test::TrackEvent::COUNTER) {
      decoded.counters.emplace_back(time_ns, event.double_counter_value());
    } else if (event.type() == test::TrackEvent::SLICE_END) {
      EXPECT_FALSE(open[track].empty()) << "no end without a begin";
      if (open[track].empty()) continue;
      decoded.slices[open[track].back()].end_ns = time_ns;
      open[track].pop_back();
    } else {
      EXPECT_EQ(event.type(), test::TrackEvent::SLICE_BEGIN);
      DecodedSlice slice;
      EXPECT_TRUE(names.contains(event.name_iid())) << "a name is interned before its use";
      slice.name = names[event.name_iid()];
      slice.category = event.categories(0);
      for (const auto& annotation : event.debug_annotations())
        if (annotation.has_int_value()) slice.numbers[annotation.name()] = annotation.int_value();
      slice.flows.insert(event.flow_ids().begin(), event.flow_ids().end());
      slice.terminating_flows.insert(event.terminating_flow_ids().begin(),
                                     event.terminating_flow_ids().end());
      slice.start_ns = time_ns;
      slice.depth = open[track].size();
      slice.track = track;
      open[track].push_back(decoded.slices.size());
      decoded.slices.push_back(std::move(slice));
    }
  }
  for (const auto& [track, stack] : open) decoded.open += stack.size();
  return decoded;
}

Decoded decoded_export(const std::filesystem::path& trace) {
  auto reader = value_of(Reader::open(trace));
  const std::filesystem::path target = trace.parent_path() / "trace.pftrace";
  const auto result = export_perfetto(reader, target);
  EXPECT_TRUE(result) << result.error().message;
  return decode(target);
}

class PerfettoExport : public testing::TestWithParam<std::uint32_t> {};

TEST_P(PerfettoExport, DecodesToWhatWasRecorded) {
  const SampleFile file({.seed = GetParam(), .operations = true});
  const Sample& sample = file.sample;
  const Decoded decoded = decoded_export(file.path);
  EXPECT_EQ(decoded.open, 0U);
  EXPECT_EQ(decoded.slices.size(), sample.recording.requests.size() + sample.recording.rounds.size() +
                                       sample.spans.size() + sample.kernels.size() + sample.decisions.size());

  std::map<std::int64_t, const Span*> spans;
  for (const Span& span : sample.spans) spans[span.id.value()] = &span;
  std::map<std::string, std::int64_t> expected_phase_ns, phase_ns;
  for (const Span& span : sample.spans)
    if (span.depth == 0)
      expected_phase_ns[std::string(phase_name(span.phase))] += span.end_ns - span.start_ns;
  std::size_t spans_seen = 0;
  for (const DecodedSlice& slice : decoded.slices) {
    EXPECT_GE(slice.end_ns, slice.start_ns);
    if (!slice.numbers.contains("span")) continue;
    ++spans_seen;
    const Span& span = *spans.at(slice.numbers.at("span"));
    EXPECT_EQ(slice.start_ns, span.start_ns);
    EXPECT_EQ(slice.end_ns, span.end_ns);
    EXPECT_EQ(slice.name, sample.strings[static_cast<std::size_t>(span.name_id.value()) - 1]);
    EXPECT_EQ(slice.category, phase_name(span.phase));
    // A span is below its request and, except for the prefill, below its round.
    EXPECT_EQ(slice.depth, span.depth + (span.round_id.is_none() ? 1U : 2U)) << "span " << span.id;
    if (span.depth == 0) phase_ns[slice.category] += slice.end_ns - slice.start_ns;
  }
  EXPECT_EQ(spans_seen, sample.spans.size());
  EXPECT_EQ(phase_ns, expected_phase_ns);

  ASSERT_EQ(decoded.counters.size(), sample.counters.size());
  for (std::size_t i = 0; i < sample.counters.size(); ++i) {
    EXPECT_EQ(decoded.counters[i].first, sample.counters[i].timestamp_ns);
    EXPECT_EQ(decoded.counters[i].second, sample.counters[i].value);
  }
}

TEST_P(PerfettoExport, HasTheDecisionsOnATrackOfTheirOwn) {
  const SampleFile file({.seed = GetParam()});
  const Sample& sample = file.sample;
  const Decoded decoded = decoded_export(file.path);
  std::map<std::int64_t, const Decision*> decisions;
  for (const Decision& decision : sample.decisions) decisions[decision.id.value()] = &decision;
  for (const DecodedSlice& slice : decoded.slices) {
    EXPECT_EQ(slice.numbers.contains("decision"), decoded.tracks.at(slice.track).name() == "decisions");
    if (!slice.numbers.contains("decision")) continue;
    const auto found = decisions.extract(slice.numbers.at("decision"));
    ASSERT_FALSE(found.empty());
    const Decision& decision = *found.mapped();
    EXPECT_EQ(slice.start_ns, decision.start_ns);
    EXPECT_EQ(slice.end_ns, decision.end_ns);
    EXPECT_EQ(slice.name, sample.strings[static_cast<std::size_t>(decision.kind_id.value()) - 1]);
    EXPECT_EQ(slice.category, "decision");
    EXPECT_EQ(slice.numbers.at("adopted"), decision.adopted ? 1 : 0);
    EXPECT_EQ(slice.numbers.contains("round"), !decision.round_id.is_none());
  }
  EXPECT_TRUE(decisions.empty());
}

TEST_P(PerfettoExport, DrawsOneArrowFromEachLaunchToItsKernel) {
  const SampleFile file({.seed = GetParam()});
  const Sample& sample = file.sample;
  std::map<std::uint64_t, std::int64_t> from, to;
  const Decoded decoded = decoded_export(file.path);
  for (const DecodedSlice& slice : decoded.slices) {
    for (const std::uint64_t flow : slice.flows)
      EXPECT_TRUE(from.emplace(flow, slice.numbers.at("span")).second);
    for (const std::uint64_t flow : slice.terminating_flows)
      EXPECT_TRUE(to.emplace(flow, slice.numbers.at("kernel")).second);
  }
  EXPECT_EQ(from.size(), sample.kernels.size());
  for (const Kernel& kernel : sample.kernels) {
    EXPECT_EQ(from.at(static_cast<std::uint64_t>(kernel.id.value())), kernel.span_id.value());
    EXPECT_EQ(to.at(static_cast<std::uint64_t>(kernel.id.value())), kernel.id.value());
  }
}

INSTANTIATE_TEST_SUITE_P(seeds, PerfettoExport, testing::Values(1U, 2U, 3U, 4U));

TEST(PerfettoExportOfOverlaps, MovesCrossingSlicesToAFurtherLaneAndKeepsTheirDurations) {
  const TestFolder folder;
  {
    auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
    Track track;
    track.kind = "stream";
    track.name = "stream 7";
    const TrackId stream_id = writer->add(track);
    std::vector<Kernel> kernels(3);
    const std::int64_t times[3][2] = {{100, 200}, {150, 250}, {200, 300}};
    for (std::size_t i = 0; i < 3; ++i) {
      kernels[i].id = writer->next_kernel_id();
      kernels[i].track_id = stream_id;
      kernels[i].short_name_id = writer->intern("kernel");
      kernels[i].start_ns = times[i][0];
      kernels[i].end_ns = times[i][1];
    }
    writer->add(std::span<const Kernel>(kernels));
    ASSERT_TRUE(writer->close());
  }
  const Decoded decoded = decoded_export(folder / "trace.dstrace");
  ASSERT_EQ(decoded.slices.size(), 3U);
  std::set<std::uint64_t> lanes;
  for (const DecodedSlice& slice : decoded.slices) {
    EXPECT_EQ(slice.end_ns - slice.start_ns, 100);
    EXPECT_EQ(decoded.tracks.at(slice.track).name(), "stream 7");
    lanes.insert(slice.track);
  }
  EXPECT_EQ(lanes.size(), 2U);
}

TEST(PerfettoExportCancelled, LeavesNeitherTheTargetNorAPartOfIt) {
  const TestFolder folder;
  {
    auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
    std::vector<Counter> counters(100'000);
    Track track;
    track.kind = "counter";
    const TrackId track_id = writer->add(track);
    for (Counter& counter : counters) counter.track_id = track_id;
    writer->add(std::span<const Counter>(counters));
    ASSERT_TRUE(writer->close());
  }
  auto reader = value_of(Reader::open(folder / "trace.dstrace"));
  const auto result =
      export_perfetto(reader, folder / "trace.pftrace", [](std::int64_t done, std::int64_t all) {
        EXPECT_EQ(all, 100'000);
        EXPECT_LE(done, all);
        return false;
      });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "export cancelled");
  EXPECT_EQ(names_in(folder).size(), 1U);
}

}  // namespace
}  // namespace draftscope::traces
