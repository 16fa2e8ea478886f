// SPDX-License-Identifier: GPL-3.0-or-later
// A device's time in tables and gaps: nothing is lost, and nothing is counted twice.
#include <draftscope/simulator/analysis/device_table.h>
#include <draftscope/simulator/analysis/operations.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "../../../value_of.h"

namespace draftscope::simulator {
namespace {

using testing::ElementsAre;
using traces::Phase;

constexpr const char* operations_sample =
    DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-llama-1b-operations.dstrace";
constexpr const char* node_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-node.dstrace";
constexpr const char* graph_sample = DRAFTSCOPE_SOURCE_DIR "/traces/samples/h200-smollm2-graph.dstrace";

struct Read {
  traces::Recording recording;
  DeviceTimeline timeline;
};
Read read(const char* path) {
  traces::Reader reader = value_of(traces::Reader::open(path));
  traces::Recording recording = value_of(reader.recording());
  DeviceTimeline timeline = value_of(read_device_timeline(reader, recording));
  return {std::move(recording), std::move(timeline)};
}

std::int64_t time_of(const std::vector<DeviceGap>& gaps) {
  return std::accumulate(gaps.begin(), gaps.end(), std::int64_t{0},
                         [](std::int64_t sum, const DeviceGap& gap) { return sum + gap.ns(); });
}

/// Length of the union of intervals, counted by their edges.
std::int64_t union_of(const DeviceTimeline& timeline, TimeWindow of) {
  std::vector<std::pair<std::int64_t, int>> edges;
  edges.reserve(2 * timeline.own.size());
  for (const DeviceWork& work : timeline.work) {
    const std::int64_t start_ns = std::max(work.start_ns, of.start_ns);
    const std::int64_t end_ns = std::min(work.end_ns, of.end_ns);
    if (end_ns <= start_ns) continue;
    edges.emplace_back(start_ns, 1);
    edges.emplace_back(end_ns, -1);
  }
  std::sort(edges.begin(), edges.end());
  std::int64_t covered_ns = 0;
  int open = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (open > 0) covered_ns += edges[i].first - edges[i - 1].first;
    open += edges[i].second;
  }
  return covered_ns;
}

class DeviceTables : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Samples, DeviceTables, testing::Values(operations_sample, node_sample, graph_sample),
                         [](const auto& named) {
                           return named.index == 0 ? "Operations" : named.index == 1 ? "Nodes" : "Graphs";
                         });

TEST_P(DeviceTables, OwnTimesAndGapsAddUpToTheWallTimeOfAnyRange) {
  const auto [recording, timeline] = read(GetParam());
  const TimeWindow whole{recording.requests.front().start_ns, recording.requests.back().end_ns};
  std::mt19937_64 random(5);
  for (int i = 0; i < 30; ++i) {
    std::uniform_int_distribution<std::int64_t> time(whole.start_ns, whole.end_ns);
    TimeWindow range{time(random), time(random)};
    if (range.end_ns < range.start_ns) std::swap(range.start_ns, range.end_ns);
    const DeviceSelection selection =
        select_device(timeline, recording, {.range = range, .run = {}, .phase = {}});
    const DeviceTable table = device_table(timeline, selection, DeviceNames::kernels);
    EXPECT_EQ(table.wall_ns, range.end_ns - range.start_ns);
    EXPECT_EQ(table.busy_ns + time_of(device_gaps(timeline, selection)), table.wall_ns);
    // Barriers between operations are busy time, too; the clock of operations may move them out of their
    // launch.
    if (timeline.timed_by_device)
      EXPECT_GE(table.busy_ns, union_of(timeline, range));
    else
      EXPECT_EQ(table.busy_ns, union_of(timeline, range));
    std::int64_t sum_ns = 0;
    for (const DeviceRow& row : table.rows) {
      EXPECT_LE(row.median_ns, row.p99_ns);
      sum_ns += row.own_ns;
    }
    EXPECT_EQ(sum_ns, table.busy_ns);
  }
}

TEST_P(DeviceTables, PhasesAndRunsAddUpToTheWhole) {
  const auto [recording, timeline] = read(GetParam());
  const DeviceTable whole =
      device_table(timeline, select_device(timeline, recording, {}), DeviceNames::operations);
  std::int64_t busy_ns = 0, wall_ns = 0, run_busy_ns = 0, run_wall_ns = 0;
  for (int phase = 0; phase < traces::phase_count; ++phase) {
    const DeviceTable table = device_table(
        timeline,
        select_device(timeline, recording, {.range = {}, .run = {}, .phase = static_cast<Phase>(phase)}),
        DeviceNames::operations);
    busy_ns += table.busy_ns;
    wall_ns += table.wall_ns;
  }
  for (std::uint32_t run = 0; run < recording.runs.size(); ++run) {
    const DeviceTable table =
        device_table(timeline, select_device(timeline, recording, {.range = {}, .run = run, .phase = {}}),
                     DeviceNames::operations);
    run_busy_ns += table.busy_ns;
    run_wall_ns += table.wall_ns;
  }
  EXPECT_EQ(busy_ns, whole.busy_ns);
  EXPECT_EQ(wall_ns, whole.wall_ns);
  EXPECT_EQ(run_busy_ns, whole.busy_ns);
  EXPECT_EQ(run_wall_ns, whole.wall_ns);
}

TEST_P(DeviceTables, UseOverTimeIsTheBusyTime) {
  const auto [recording, timeline] = read(GetParam());
  const TimeWindow whole{recording.requests.front().start_ns, recording.requests.back().end_ns};
  const std::vector<double> shares = busy_shares(timeline, whole, 37);
  const double mean = std::accumulate(shares.begin(), shares.end(), 0.0) / 37.0;
  const DeviceSelection selection =
      select_device(timeline, recording, {.range = whole, .run = {}, .phase = {}});
  EXPECT_NEAR(mean * static_cast<double>(whole.end_ns - whole.start_ns),
              static_cast<double>(device_table(timeline, selection, DeviceNames::operations).busy_ns), 1e3);
}

/// Operations inside rounds have the times and bytes that `report --by operation` gives them.
TEST(DeviceTable, AgreesWithTheTableByOperation) {
  const Read sample = read(operations_sample);
  const traces::Recording& recording = sample.recording;
  const DeviceTimeline& timeline = sample.timeline;
  traces::Reader reader = value_of(traces::Reader::open(operations_sample));
  const RecordedOperations operations = value_of(read_operations(reader, recording));
  for (const char* name : {"gate up", "attention", "down", "qkv"}) {
    std::int64_t expected_ns = 0, expected_bytes = 0;
    for (const OperationFigures& row : operations.rows)
      if (row.name == name) {
        expected_ns += row.ns;
        expected_bytes += row.bytes;
      }
    // Kernels of a prefill have no operation in that table.
    std::int64_t own_ns = 0;
    double bytes = 0.0;
    for (const traces::Phase phase : {traces::Phase::draft, traces::Phase::verify}) {
      const DeviceSelection selection =
          select_device(timeline, recording, {.range = {}, .run = {}, .phase = phase});
      for (const DeviceRow& row : device_table(timeline, selection, DeviceNames::operations).rows)
        if (timeline.names[row.name] == name) {
          own_ns += row.own_ns;
          bytes += row.bytes;
        }
    }
    EXPECT_EQ(own_ns, expected_ns) << name;
    EXPECT_NEAR(bytes, static_cast<double>(expected_bytes), 1e-9 * bytes) << name;
  }
}

/// No product reads faster than its memory, though bytes follow from sizes and times from kernels.
TEST(DeviceTable, GivesProductsTheBytesOfTheirSizes) {
  const auto [recording, timeline] = read(node_sample);
  EXPECT_EQ(timeline.bytes, BytesSource::sizes);
  for (const DeviceWork& work : timeline.work)
    if (timeline.names[work.operation] == "gate up") {
      EXPECT_EQ(work.bytes, 2 * 2 * 576 * 1536);
    }
}

/// A timeline of rows [start, end), each a name of its own.
DeviceTimeline timeline_of(const std::vector<DeviceWork>& work, std::vector<OwnTime> own) {
  DeviceTimeline timeline;
  timeline.work = work;
  timeline.own = std::move(own);
  for (std::size_t i = 0; i < work.size(); ++i) {
    timeline.names.push_back(std::to_string(i));
    timeline.work[i].kernel = timeline.work[i].operation = static_cast<std::uint32_t>(i);
  }
  return timeline;
}

TEST(DeviceGaps, SayWhatTheyAre) {
  DeviceWork copy{.start_ns = 10, .end_ns = 20, .round_id = 1, .launch = 4};
  DeviceWork first{.start_ns = 30, .end_ns = 40, .round_id = 1, .launch = 5};
  DeviceWork second{.start_ns = 45, .end_ns = 50, .round_id = 1, .launch = 5};
  DeviceWork relaunched{.start_ns = 60, .end_ns = 70, .round_id = 1, .launch = 6};
  DeviceWork later{.start_ns = 80, .end_ns = 90, .round_id = 2, .launch = 7};
  const DeviceTimeline timeline =
      timeline_of({copy, first, second, relaunched, later},
                  {{10, 20, 0}, {30, 40, 1}, {45, 50, 2}, {60, 70, 3}, {80, 90, 4}});
  const std::vector<DeviceGap> gaps = device_gaps(timeline, {.windows = {{0, 100}}, .phase = {}});
  std::vector<GapKind> kinds;
  std::vector<std::int64_t> times;
  for (const DeviceGap& gap : gaps) {
    kinds.push_back(gap.kind);
    times.push_back(gap.ns());
  }
  EXPECT_THAT(kinds, ElementsAre(GapKind::host, GapKind::launch, GapKind::between_kernels, GapKind::launch,
                                 GapKind::host, GapKind::host));
  EXPECT_THAT(times, ElementsAre(10, 10, 5, 10, 10, 10));
  EXPECT_EQ(gaps.front().before, no_work);
  EXPECT_EQ(gaps[1].before, 0U);
  EXPECT_EQ(gaps[1].after, 1U);
  EXPECT_THAT(longest_gaps(gaps, 2), ElementsAre(0, 1));
}

TEST(DurationHistogram, CountsEachDurationOnce) {
  std::mt19937_64 random(11);
  for (const std::int64_t most : {std::int64_t{1}, std::int64_t{30}, std::int64_t{1} << 40}) {
    std::vector<std::int64_t> durations(200);
    for (std::int64_t& ns : durations) ns = std::uniform_int_distribution<std::int64_t>(0, most)(random);
    const DurationHistogram histogram = histogram_of(durations);
    EXPECT_TRUE(std::is_sorted(histogram.edges_ns.begin(), histogram.edges_ns.end()));
    EXPECT_EQ(std::accumulate(histogram.counts.begin(), histogram.counts.end(), std::int64_t{0}), 200);
    EXPECT_GE(histogram.edges_ns.back(),
              static_cast<double>(*std::max_element(durations.begin(), durations.end())));
  }
  EXPECT_TRUE(histogram_of({}).counts.empty());
  EXPECT_EQ(histogram_of({std::int64_t{1} << 60}).counts.size(), 1U);
}

TEST(KernelName, LeavesOutWhatAllKernelsShare) {
  EXPECT_EQ(short_kernel_name("qkv: draftscope::engine::(anonymous namespace)::entry<a::b::G<a::T, 8> >"),
            "qkv: G<T, 8>");
  EXPECT_EQ(short_kernel_name("draftscope::engine::cuda::entry<draftscope::engine::cuda::Program<x::Bf16> >"),
            "Program<Bf16>");
  EXPECT_EQ(short_kernel_name("cublasLt::splitKreduce_kernel<32, 16, int, float>"),
            "splitKreduce_kernel<32, 16, int, float>");
  for (const char* same : {"aten::mm", "[memcpy HtoD]", "forward: [graph]", ""})
    EXPECT_EQ(short_kernel_name(same), same);
  EXPECT_EQ(operation_of_kernel("qkv: G<T, 8>"), "qkv");
  EXPECT_EQ(operation_of_kernel("splitKreduce_kernel<32>"), "splitKreduce_kernel");
}

TEST(StepBound, SaysWhatAVanillaStepReads) {
  const MeasuredRecording measured = value_of(measure_recording(operations_sample));
  const StepBound bound = step_bound(measured).value();
  EXPECT_EQ(bound.weight_bytes, 2471628800.0);
  EXPECT_TRUE(bound.is_busy_time);
  ASSERT_TRUE(bound.share());
  EXPECT_LT(*bound.share(), 1.0);
  EXPECT_THAT(step_bound_text(measured, Characters::ascii), testing::HasSubstr("H200"));
}

}  // namespace
}  // namespace draftscope::simulator
