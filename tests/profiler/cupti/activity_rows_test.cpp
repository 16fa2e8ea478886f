// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti/activity_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <variant>

#include "trace_rows.h"

namespace draftscope::profiler::cupti {
namespace {

template <typename Record>
const CUpti_Activity& activity(const Record& record) {
  return reinterpret_cast<const CUpti_Activity&>(record);
}

CUpti_ActivityExternalCorrelation external(std::uint32_t correlation, traces::SpanId span_id) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  record.externalId = static_cast<std::uint64_t>(span_id.value());
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityAPI api_call(std::uint32_t correlation) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityKernel10 kernel(std::uint32_t correlation, std::uint64_t start = 1000) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = start;
  record.end = start + 10;
  record.correlationId = correlation;
  record.name = "skinny_product";
  record.streamId = 7;
  record.gridX = 132;
  record.blockX = 128;
  return record;
}

class ActivityRowsTest : public ::testing::Test {
 protected:
  ActivityRowsTest() { rows_.write_to(file_.writer()); }

  /// A span in the file that device work may belong to.
  traces::SpanId span(traces::Phase phase, std::int32_t layer = -1) {
    if (track_.is_none()) track_ = file_.writer().add(traces::Track{0, "host", "decoding thread", 0, 0});
    traces::Span row;
    row.id = file_.writer().next_span_id();
    row.track_id = track_;
    row.start_ns = row.end_ns = 100 + row.id.value();
    row.name_id = file_.writer().intern("span");
    row.layer = layer;
    row.phase = phase;
    file_.writer().add(std::span<const traces::Span>(&row, 1));
    rows_.expect(row);
    return row.id;
  }

  template <typename... Records>
  void add(const Records&... records) {
    (rows_.add(activity(records)), ...);
  }

  DeviceRows finish() {
    rows_.settle_all();
    return file_.close();
  }

  TraceFile file_;
  GraphParts parts_;
  LayerLists layer_lists_;
  ActivityRows rows_{parts_, layer_lists_};
  traces::TrackId track_;
};

TEST_F(ActivityRowsTest, GiveAKernelItsSpansPhaseAndLayer) {
  const traces::SpanId launcher = span(traces::Phase::verify, 5);
  add(external(9, launcher), api_call(9), kernel(9));
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  const DeviceRow& row = read.rows[0];
  EXPECT_EQ(row.kernel.span_id, launcher);
  EXPECT_EQ(row.kernel.phase, traces::Phase::verify);
  EXPECT_EQ(row.kernel.layer, 5);
  EXPECT_EQ(row.kernel.start_ns, 1000);
  EXPECT_EQ(row.kernel.end_ns, 1010);
  EXPECT_EQ(row.kernel.grid_x, 132);
  EXPECT_EQ(row.kernel.block_x, 128);
  EXPECT_EQ(row.kernel.correlation_id, 9U);
  EXPECT_EQ(row.name, "skinny_product");
  EXPECT_EQ(row.track_kind, "stream");
  EXPECT_EQ(row.track_name, "device 0, stream 7");
}

TEST_F(ActivityRowsTest, KeepTheCorrelationAcrossBuffers) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(external(9, launcher));
  rows_.settle();
  add(api_call(9));
  rows_.settle();
  add(kernel(9));
  EXPECT_EQ(finish().rows.at(0).kernel.span_id, launcher);
  EXPECT_EQ(rows_.counts().unattributed, 0);
}

TEST_F(ActivityRowsTest, LetAKernelWaitForItsCorrelation) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(kernel(9));
  rows_.settle();
  EXPECT_EQ(rows_.counts().rows, 0);
  add(external(9, launcher), api_call(9));
  rows_.settle();
  EXPECT_EQ(rows_.counts().rows, 1);
  EXPECT_EQ(finish().rows.at(0).kernel.span_id, launcher);
}

TEST_F(ActivityRowsTest, KnowThatACallOutsideAnySpanHasNone) {
  add(api_call(9), kernel(9));
  EXPECT_EQ(rows_.counts().rows, 1);
  EXPECT_EQ(rows_.counts().unattributed, 1);
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.at(0).kernel.span_id.value(), 0);
  EXPECT_EQ(read.rows.at(0).kernel.phase, traces::Phase::control);
}

TEST_F(ActivityRowsTest, GiveARecycledIdToItsLatestSpan) {
  const traces::SpanId first = span(traces::Phase::draft);
  const traces::SpanId second = span(traces::Phase::verify);
  add(external(9, first), api_call(9), kernel(9, 1000));
  rows_.settle();
  add(external(9, second), api_call(9), kernel(9, 2000));
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].kernel.span_id, first);
  EXPECT_EQ(read.rows[1].kernel.span_id, second);
}

TEST_F(ActivityRowsTest, IgnoreTheIdsOfOtherTools) {
  CUpti_ActivityExternalCorrelation foreign = external(9, 77);
  foreign.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(external(9, launcher), foreign, api_call(9), kernel(9));
  EXPECT_EQ(finish().rows.at(0).kernel.span_id, launcher);
}

TEST_F(ActivityRowsTest, TellTheNodesOfOneLaunchApartByTheirClones) {
  const traces::SpanId launcher = span(traces::Phase::verify);
  for (const std::uint32_t layer : {0U, 1U}) {
    parts_.enter("mlp_down", static_cast<std::int32_t>(layer));
    parts_.node_created(10 + layer);
    GraphParts::leave();
  }
  parts_.node_created(12);
  for (const std::uint64_t node : {10U, 11U, 12U}) parts_.node_cloned(node + 100, node);

  add(external(9, launcher), api_call(9));
  for (const std::uint64_t node : {110U, 111U, 112U}) {
    CUpti_ActivityKernel10 record = kernel(9, 1000 + node);
    record.graphNodeId = node;
    record.graphId = 3;
    add(record);
  }
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 3U);
  for (const DeviceRow& row : read.rows) {
    EXPECT_EQ(row.kernel.span_id, launcher);
    EXPECT_EQ(row.kernel.graph_id, 3U);
  }
  EXPECT_EQ(read.rows[0].name, "mlp_down: skinny_product");
  EXPECT_EQ(read.rows[0].kernel.layer, 0);
  EXPECT_EQ(read.rows[0].kernel.graph_node_id, 110U);
  EXPECT_EQ(read.rows[1].name, "mlp_down: skinny_product");
  EXPECT_EQ(read.rows[1].kernel.layer, 1);
  EXPECT_EQ(read.rows[2].name, "skinny_product");
  EXPECT_EQ(read.rows[2].kernel.layer, -1);
}

TEST_F(ActivityRowsTest, WaitForALaunchWhoseRecordsAreCutInTwo) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  parts_.enter("mlp_down", 0);
  parts_.node_created(10);
  GraphParts::leave();
  CUpti_ActivityKernel10 record = kernel(9);
  record.graphNodeId = 10;
  // A buffer ends between the two correlations of one call: the layer must not be the place's.
  add(external(9, launcher), record);
  rows_.settle();
  EXPECT_EQ(rows_.counts().rows, 0);
  CUpti_ActivityExternalCorrelation layers =
      external(9, traces::SpanId::from(layer_lists_.id_of(std::vector<std::int32_t>{6})));
  layers.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  add(layers, api_call(9));
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].kernel.span_id, launcher);
  EXPECT_EQ(read.rows[0].kernel.layer, 6);
}

TEST_F(ActivityRowsTest, NameALaunchWhoseOwnRecordWasLost) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(external(9, launcher), kernel(9));
  EXPECT_EQ(finish().rows.at(0).kernel.span_id, launcher);
  EXPECT_EQ(rows_.counts().unattributed, 0);
}

TEST_F(ActivityRowsTest, NameALaunchOfAGraphAfterIt) {
  parts_.enter("verify of 5 rows", -1);
  parts_.executable_created(3);
  GraphParts::leave();
  for (const std::uint32_t graph : {3U, 4U}) {
    CUpti_ActivityGraphTrace2 record{};
    record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
    record.start = record.end = 1000 + graph;
    record.graphId = graph;
    record.correlationId = graph;
    add(api_call(graph), record);
  }
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].name, "verify of 5 rows: [graph]");
  EXPECT_EQ(read.rows[1].name, "[graph]");
  EXPECT_EQ(read.rows[1].kernel.graph_id, 4U);
}

TEST_F(ActivityRowsTest, RejectTimesThatCannotBe) {
  CUpti_ActivityKernel10 never = kernel(9);
  never.start = never.end = 0;
  CUpti_ActivityKernel10 backwards = kernel(9);
  backwards.end = backwards.start - 1;
  CUpti_ActivityKernel10 beyond = kernel(9);
  beyond.end = ~std::uint64_t{0};
  add(api_call(9), never, backwards, beyond, kernel(9));
  EXPECT_EQ(rows_.counts().rejected, 3);
  EXPECT_EQ(finish().rows.size(), 1U);
}

TEST_F(ActivityRowsTest, KeepOverheadOnItsOwnTrackAndSumIt) {
  CUpti_ActivityOverhead3 flush{};
  flush.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  flush.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  flush.start = 1000;
  flush.end = 1300;
  CUpti_ActivityOverhead3 full = flush;
  full.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  full.start = 1290;
  full.overheadData = std::malloc(sizeof(CUpti_ActivityOverheadCommandBufferFullData));
  add(flush, full);
  EXPECT_EQ(rows_.counts().overhead_ns, 310);
  EXPECT_EQ(rows_.counts().unattributed, 0);
  const DeviceRows read = finish();
  ASSERT_EQ(read.of_kind("overhead").size(), 2U);
  EXPECT_EQ(read.rows[0].name, "[CUPTI buffer flush]");
  EXPECT_EQ(read.rows[1].name, "[command buffer full]");
}

TEST_F(ActivityRowsTest, FindACopysSpanByEitherOfItsIds) {
  const traces::SpanId launcher = span(traces::Phase::accept);
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.start = 1000;
  copy.end = 1001;
  copy.bytes = 4096;
  copy.correlationId = 21;
  copy.runtimeCorrelationId = 20;
  add(external(20, launcher), api_call(20), api_call(21), copy);
  copy.correlationId = 20;
  copy.runtimeCorrelationId = 0;
  add(copy);
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 2U);
  for (const DeviceRow& row : read.rows) {
    EXPECT_EQ(row.kernel.span_id, launcher);
    EXPECT_EQ(row.name, "[memcpy DtoH]");
  }
  ASSERT_EQ(read.counters.size(), 2U);
  EXPECT_EQ(read.counters[0].timestamp_ns, 1000);
  EXPECT_EQ(read.counters[0].value, 4096.0);
}

TEST_F(ActivityRowsTest, CountRecordsThatHaveNoRow) {
  CUpti_ActivityStream stream{};
  stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
  add(stream);
  EXPECT_EQ(rows_.counts().other, 1);
  EXPECT_TRUE(finish().rows.empty());
}

TEST_F(ActivityRowsTest, CountKernelsThatBeginBeforeTheirSpan) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(external(9, launcher), api_call(9), kernel(9, 50), kernel(9, 5000));
  EXPECT_EQ(rows_.counts().before_span, 1);
  EXPECT_EQ(finish().rows.size(), 2U);
}

// Every record of many launches, in an order that keeps only what CUPTI promises: an external correlation
// precedes its call.
class RandomOrder : public ActivityRowsTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(RandomOrder, MakesARowOfEachRecordAndGivesItToItsSpan) {
  using Record = std::variant<CUpti_ActivityExternalCorrelation, CUpti_ActivityAPI, CUpti_ActivityKernel10>;
  std::mt19937 random(GetParam());
  std::vector<std::pair<unsigned, Record>> records;  // with its place in the order
  std::map<std::uint32_t, traces::SpanId> expected;
  std::size_t kernels = 0;
  for (std::uint32_t correlation = 1; correlation <= 500; ++correlation) {
    const unsigned call_place = random() % 100'000 + 1;
    const bool inside = random() % 4 != 0;
    if (inside) {
      const traces::SpanId launcher = span(static_cast<traces::Phase>(random() % 7));
      expected[correlation] = launcher;
      records.emplace_back(random() % call_place, external(correlation, launcher));
      records.emplace_back(call_place, api_call(correlation));
    } else if (random() % 2 == 0) {
      expected[correlation] = 0;
      records.emplace_back(call_place, api_call(correlation));
    }
    const unsigned nodes = random() % 3 + 1;
    for (unsigned node = 0; node < nodes; ++node, ++kernels)
      records.emplace_back(inside ? random() % 100'000 : call_place,
                           kernel(correlation, 10'000 + random() % 1000));
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t added = 0;
  for (const auto& [place, record] : records) {
    std::visit([&](const auto& plain) { add(plain); }, record);
    if (++added % 97 == 0) rows_.settle();
  }
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.size(), kernels);
  EXPECT_EQ(rows_.counts().rows, static_cast<std::int64_t>(kernels));
  for (const DeviceRow& row : read.rows) EXPECT_EQ(row.kernel.span_id, expected[row.kernel.correlation_id]);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomOrder, ::testing::Range(0U, 8U));

}  // namespace
}  // namespace draftscope::profiler::cupti
