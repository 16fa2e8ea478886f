// SPDX-License-Identifier: GPL-3.0-or-later
// Spans that a recorder reports to a device trace, which only remembers them here.
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace draftscope::profiler {
namespace {

using traces::Phase;
using traces::Span;

class RememberedSpans final : public DeviceTrace {
 public:
  [[nodiscard]] DeviceTraceMode mode() const override { return DeviceTraceMode::launches; }
  void push_span(const Span& span) override {
    open.push_back(span.id);
    pushed.push_back(span);
  }
  void pop_span() override {
    ASSERT_FALSE(open.empty());
    open.pop_back();
  }
  void record_into(traces::Writer& /*writer*/) override {}
  void enter_operation(std::string_view op, std::int32_t layer, std::optional<Phase> /*phase*/) override {
    operations.push_back(std::string(op) + " of " + std::to_string(layer));
  }
  void leave_operation() override { operations.pop_back(); }
  void add_operations(std::span<const TimedOperation> /*operations*/, std::int64_t /*error_ns*/) override {}
  void flush() override {}
  void collect() override { ++collected; }
  void stop() override {}
  [[nodiscard]] DeviceTraceCounts counts() const override { return {}; }

  std::vector<traces::SpanId> open;
  std::vector<Span> pushed;
  std::vector<std::string> operations;
  int collected = 0;
};

TEST(DeviceAttachment, TellsOfPhasesAlone) {
  RememberedSpans device;
  SpanRecorder recorder(Level::ops, nullptr);
  recorder.attach(&device);
  recorder.set_request(7);
  recorder.set_round(9);
  const std::int32_t phase = recorder.open_phase(Phase::verify, 1);
  {
    const ScopedSpan layer(&recorder, Level::layers, 1, 3);
    EXPECT_EQ(device.open.size(), 1U);
  }
  recorder.close(phase);
  EXPECT_TRUE(device.open.empty());
  ASSERT_EQ(device.pushed.size(), 1U);
  EXPECT_EQ(device.pushed[0].id, recorder.take().at(0).id);
  EXPECT_EQ(device.pushed[0].phase, Phase::verify);
  EXPECT_EQ(device.pushed[0].request_id.value(), 7);
  EXPECT_EQ(device.pushed[0].round_id.value(), 9);
}

TEST(DeviceAttachment, TellsOfLayersWhereAsked) {
  RememberedSpans device;
  SpanRecorder recorder(Level::ops, nullptr);
  recorder.attach(&device, Level::layers);
  const std::int32_t phase = recorder.open_phase(Phase::verify, 1);
  {
    const ScopedSpan layer(&recorder, Level::layers, 1, 3);
    const ScopedSpan op(&recorder, Level::ops, 2, 3);
    EXPECT_EQ(device.open.size(), 2U);
  }
  recorder.close(phase);
  ASSERT_EQ(device.pushed.size(), 2U);
  EXPECT_EQ(device.pushed[1].layer, 3);
}

TEST(DeviceAttachment, TellsNothingWhereNothingIsRecordedOrAttached) {
  RememberedSpans device;
  SpanRecorder off(Level::off, nullptr);
  off.attach(&device);
  off.close(off.open_phase(Phase::draft, 1));
  SpanRecorder detached(Level::ops, nullptr);
  detached.attach(&device);
  detached.attach(nullptr);
  detached.close(detached.open_phase(Phase::draft, 1));
  EXPECT_TRUE(device.pushed.empty());
}

TEST(DeviceAttachment, CollectsAtEachFlush) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("draftscope-flush-" + std::to_string(std::random_device{}()) + ".dstrace");
  RememberedSpans device;
  {
    auto writer = traces::Writer::create(path, {});
    ASSERT_TRUE(writer) << writer.error().message;
    SpanRecorder recorder(Level::phases, writer->get());
    recorder.attach(&device);
    recorder.flush();
    recorder.close(recorder.open_phase(Phase::draft, 1));
    recorder.flush();
  }
  EXPECT_EQ(device.collected, 2);
  std::filesystem::remove(path);
}

TEST(DeviceAttachment, EndsForgottenInnerSpansToo) {
  RememberedSpans device;
  SpanRecorder recorder(Level::ops, nullptr);
  recorder.attach(&device, Level::ops);
  const std::int32_t phase = recorder.open_phase(Phase::draft, 1);
  EXPECT_GE(recorder.open(Level::ops, 1, 0), 0);
  EXPECT_GE(recorder.open_phase(Phase::optimise, 2), 0);
  EXPECT_EQ(device.open.size(), 3U);
  recorder.close(phase);
  EXPECT_TRUE(device.open.empty());
}

TEST(OperationScope, NestsAndMayHaveNoTrace) {
  RememberedSpans device;
  {
    const OperationScope pass(&device, "verify");
    const OperationScope op(&device, "attention", 4);
    const OperationScope none(nullptr, "nothing", 1);
    EXPECT_THAT(device.operations, testing::ElementsAre("verify of -1", "attention of 4"));
  }
  EXPECT_TRUE(device.operations.empty());
}

TEST(DeviceTraceMode, IsFoundByItsName) {
  for (const auto mode : {DeviceTraceMode::off, DeviceTraceMode::launches})
    EXPECT_EQ(parse_device_trace_mode(device_trace_mode_name(mode)).value(), mode);
  const auto unknown = parse_device_trace_mode("graph");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "device trace: mode is 'graph', expected off, launches or operations");
}

}  // namespace
}  // namespace draftscope::profiler
