// SPDX-License-Identifier: GPL-3.0-or-later
#include "cupti/activity_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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

CUpti_ActivityExternalCorrelation operation_of(std::uint32_t correlation, std::uint64_t number) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  record.externalId = number;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityAPI api_call(std::uint32_t correlation) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz;
  record.start = 500;
  record.end = 510;
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

  /// Adds a span to the file, for device work to refer to.
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

  std::uint64_t operation(std::string_view op, std::int32_t layer, std::optional<traces::Phase> phase = {}) {
    const std::uint64_t number = operations_.enter(op, layer, phase);
    Operations::leave();
    return number;
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
  Operations operations_;
  ActivityRows rows_{operations_};
  traces::TrackId track_;
};

TEST_F(ActivityRowsTest, GiveAKernelItsSpansPhaseAndLayer) {
  const traces::SpanId launcher = span(traces::Phase::verify, 5);
  CUpti_ActivityKernel10 record = kernel(9);
  record.registersPerThread = 96;
  record.staticSharedMemory = 1024;
  record.dynamicSharedMemory = 90'000;
  add(external(9, launcher), api_call(9), record);
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
  EXPECT_EQ(row.kernel.registers_per_thread, 96);
  EXPECT_EQ(row.kernel.static_shared_bytes, 1024);
  EXPECT_EQ(row.kernel.dynamic_shared_bytes, 90'000);
  EXPECT_EQ(row.kernel.correlation_id, 9U);
  EXPECT_EQ(row.name, "skinny_product");
  EXPECT_EQ(row.track_kind, "stream");
  EXPECT_EQ(row.track_name, "device 0, stream 7");
}

TEST_F(ActivityRowsTest, HaveARowACallThatLaunchesWithTheCorrelationOfItsWork) {
  const traces::SpanId launcher = span(traces::Phase::verify, 5);
  CUpti_ActivityAPI unlisted = api_call(10);
  unlisted.cbid = CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent;
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.start = 2000;
  copy.end = 2010;
  copy.correlationId = 12;
  copy.runtimeCorrelationId = 11;
  CUpti_ActivityAPI copying = api_call(11);
  copying.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  copying.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020;
  add(external(9, launcher), api_call(9), kernel(9), unlisted, external(11, launcher), copying, copy);
  EXPECT_EQ(rows_.counts().rows, 2) << "of the device";
  const DeviceRows read = finish();
  ASSERT_EQ(read.calls.size(), 2U);
  EXPECT_EQ(read.calls[0].name, "[cuLaunchKernel]");
  EXPECT_EQ(read.calls[0].track_name, "CUDA calls");
  EXPECT_EQ(read.calls[0].kernel.span_id, launcher);
  EXPECT_EQ(read.calls[0].kernel.phase, traces::Phase::verify);
  EXPECT_EQ(read.calls[0].kernel.start_ns, 500);
  EXPECT_EQ(read.calls[0].kernel.end_ns, 510);
  EXPECT_EQ(read.calls[1].name, "[cudaMemcpyAsync]");
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(read.calls[i].kernel.correlation_id, read.rows.at(i).kernel.correlation_id);
}

TEST_F(ActivityRowsTest, SayTheLimitsOfTheFirstDevice) {
  CUpti_ActivityDevice5 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.computeCapabilityMajor = 9;
  device.numMultiprocessors = 132;
  device.maxWarpsPerMultiprocessor = 64;
  device.maxBlocksPerMultiprocessor = 32;
  device.maxRegistersPerMultiprocessor = 65'536;
  device.maxSharedMemoryPerMultiprocessor = 233'472;
  add(device);
  device.numMultiprocessors = 1;
  add(device);
  EXPECT_EQ(rows_.device_limits(),
            R"({"compute_capability":"9.0","multiprocessors":132,"max_warps":64,"max_blocks":32,)"
            R"("max_registers":65536,"max_shared_bytes":233472})");
  EXPECT_EQ(rows_.counts().other, 0);
}

TEST_F(ActivityRowsTest, HaveARowAnOperationThatAKernelTimedAndItsTimeOnABlock) {
  const traces::SpanId launcher = span(traces::Phase::verify);
  const std::array<TimedOperation, 2> operations{{{.name = "qkv",
                                                   .layer = 3,
                                                   .start_ns = 1000,
                                                   .end_ns = 1090,
                                                   .first_end_ns = 1050,
                                                   .block_start_ns = 1010,
                                                   .block_end_ns = 1060,
                                                   .wait_ns = 20,
                                                   .bytes = 4096,
                                                   .blocks = 132,
                                                   .first_block = 7,
                                                   .last_block = 9},
                                                  {.name = "head",
                                                   .phase = traces::Phase::draft,
                                                   .start_ns = 1100,
                                                   .end_ns = 1200,
                                                   .first_end_ns = 1150,
                                                   .block_start_ns = 1100,
                                                   .block_end_ns = 1200}}};
  rows_.add(operations, launcher);
  const DeviceRows read = finish();
  const std::vector<DeviceRow> timed = read.of_kind("operations");
  ASSERT_EQ(timed.size(), 2U);
  EXPECT_EQ(timed[0].name, "qkv");
  EXPECT_EQ(timed[0].kernel.span_id, launcher);
  EXPECT_EQ(timed[0].kernel.phase, traces::Phase::verify);
  EXPECT_EQ(timed[0].kernel.layer, 3);
  EXPECT_EQ(timed[0].kernel.first_end_ns, 1050);
  EXPECT_EQ(timed[0].kernel.wait_ns, 20);
  EXPECT_EQ(timed[0].kernel.bytes, 4096);
  EXPECT_EQ(timed[0].kernel.grid_x, 132);
  EXPECT_EQ(timed[0].kernel.first_block, 7);
  EXPECT_EQ(timed[0].kernel.last_block, 9);
  EXPECT_EQ(timed[1].kernel.phase, traces::Phase::draft);
  const std::vector<DeviceRow> of_block = read.of_kind("block");
  ASSERT_EQ(of_block.size(), 2U);
  EXPECT_EQ(of_block[0].kernel.start_ns, 1010);
  EXPECT_EQ(of_block[0].kernel.end_ns, 1060);
  EXPECT_EQ(of_block[0].kernel.bytes, 0);
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
  foreign.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(external(9, launcher), foreign, api_call(9), kernel(9));
  EXPECT_EQ(finish().rows.at(0).kernel.span_id, launcher);
}

TEST_F(ActivityRowsTest, NameLaunchesOfOneKernelAfterTheirOperations) {
  const traces::SpanId launcher = span(traces::Phase::draft, 5);
  const std::uint64_t numbers[] = {operation("mlp_down", 0), operation("mlp_down", 1, traces::Phase::verify),
                                   operation("head", -1), 0, 99};
  for (std::uint32_t i = 0; i < 5; ++i) {
    if (numbers[i] != 0) add(operation_of(10 + i, numbers[i]));
    add(external(10 + i, launcher), api_call(10 + i), kernel(10 + i, 1000 + i));
  }
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 5U);
  const auto expect = [&](std::size_t at, const char* name, std::int32_t layer, traces::Phase phase) {
    EXPECT_EQ(read.rows[at].name, name);
    EXPECT_EQ(read.rows[at].kernel.layer, layer) << at;
    EXPECT_EQ(read.rows[at].kernel.phase, phase) << at;
    EXPECT_EQ(read.rows[at].kernel.span_id, launcher) << at;
  };
  expect(0, "mlp_down: skinny_product", 0, traces::Phase::draft);
  expect(1, "mlp_down: skinny_product", 1, traces::Phase::verify);
  expect(2, "head: skinny_product", 5, traces::Phase::draft);  // it has no layer, so the span's layer counts
  expect(3, "skinny_product", 5, traces::Phase::draft);
  expect(4, "skinny_product", 5, traces::Phase::draft);  // the correlation id was never given
}

TEST_F(ActivityRowsTest, NameCopiesAndSetsAfterTheirOperationButNoWait) {
  const traces::SpanId launcher = span(traces::Phase::verify);
  const std::uint64_t number = operation("round control", -1);
  for (const std::uint32_t correlation : {20U, 21U, 22U})
    add(external(correlation, launcher), operation_of(correlation, number), api_call(correlation));
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
  copy.start = copy.end = 1000;
  copy.runtimeCorrelationId = 20;
  CUpti_ActivityMemset4 set{};
  set.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  set.start = set.end = 1001;
  set.correlationId = 21;
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
  wait.start = wait.end = 1002;
  wait.correlationId = 22;
  add(copy, set, wait);
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 3U);
  EXPECT_EQ(read.rows[0].name, "round control: [memcpy DtoD]");
  EXPECT_EQ(read.rows[1].name, "round control: [memset]");
  EXPECT_EQ(read.rows[2].name, "[wait for event]");
}

TEST_F(ActivityRowsTest, WaitForALaunchWhoseRecordsAreCutInTwo) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  // A buffer ends between the two correlations of one call.
  add(external(9, launcher), kernel(9));
  rows_.settle();
  EXPECT_EQ(rows_.counts().rows, 0);
  add(operation_of(9, operation("mlp_down", 6)), api_call(9));
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].kernel.span_id, launcher);
  EXPECT_EQ(read.rows[0].kernel.layer, 6);
  EXPECT_EQ(read.rows[0].name, "mlp_down: skinny_product");
}

TEST_F(ActivityRowsTest, NameALaunchWhoseOwnRecordWasLost) {
  const traces::SpanId launcher = span(traces::Phase::draft);
  add(external(9, launcher), kernel(9));
  EXPECT_EQ(finish().rows.at(0).kernel.span_id, launcher);
  EXPECT_EQ(rows_.counts().unattributed, 0);
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

// Every record of many launches, in an order that keeps only CUPTI's promise: an external correlation
// precedes its call.
class RandomOrder : public ActivityRowsTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(RandomOrder, MakesARowOfEachRecordAndGivesItToItsSpan) {
  using Record = std::variant<CUpti_ActivityExternalCorrelation, CUpti_ActivityAPI, CUpti_ActivityKernel10>;
  std::mt19937 random(GetParam());
  std::vector<std::pair<unsigned, Record>> records;  // each with its place in the order
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
    const std::size_t of_call = random() % 3 + 1;
    for (std::size_t i = 0; i < of_call; ++i, ++kernels)
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
