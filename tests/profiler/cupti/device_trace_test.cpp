// SPDX-License-Identifier: GPL-3.0-or-later
// Tests the device trace from start to the rows in a file, with a CUPTI that has no device.
#include <draftscope/base/clock.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "fake_cupti.h"
#include "trace_rows.h"

namespace draftscope::profiler {
namespace {

using testing::HasSubstr;
using testing::Not;
using traces::Phase;

class DeviceTraceTest : public ::testing::Test {
 protected:
  DeviceTraceTest() {
    fake_cupti::reset();
    setenv("DRAFTSCOPE_CUPTI_LIBRARY", FAKE_CUPTI, 1);
  }
  ~DeviceTraceTest() override { unsetenv("DRAFTSCOPE_CUPTI_LIBRARY"); }

  void start() {
    auto started = start_device_trace(DeviceTraceMode::launches);
    ASSERT_TRUE(started) << started.error().message;
    trace_ = std::move(*started);
    trace_->record_into(file_.writer());
    recorder_.attach(trace_.get());
  }

  std::string error_of_start() {
    const auto started = start_device_trace(DeviceTraceMode::launches);
    return started ? "started" : started.error().message;
  }

  /// Runs `work` inside a phase.
  template <typename Work>
  void in_phase(Phase phase, Work work) {
    const std::int32_t token = recorder_.open_phase(phase, now_ns());
    work();
    recorder_.close(token);
    recorder_.flush();
  }

  DeviceRows finish() {
    if (trace_ != nullptr) trace_->stop();
    return file_.close();
  }

  TraceFile file_;
  std::unique_ptr<DeviceTrace> trace_;
  SpanRecorder recorder_{Level::ops, &file_.writer()};
};

TEST_F(DeviceTraceTest, GivesDeviceWorkToThePhaseThatLaunchedIt) {
  start();
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("_Z5draftv"); });
  in_phase(Phase::verify, [] {
    fake_cupti::launch_kernel("_Z6verifyIfEvT_", 8);
    fake_cupti::copy_to_device(4096);
    fake_cupti::set_memory(64);
    fake_cupti::synchronize();
  });
  fake_cupti::launch_kernel("outside");

  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 6U);
  const auto expect = [&](std::size_t at, const std::string& name, Phase phase) {
    EXPECT_EQ(read.rows[at].name, name);
    ASSERT_TRUE(read.spans.contains(read.rows[at].kernel.span_id)) << name;
    EXPECT_EQ(read.spans.at(read.rows[at].kernel.span_id).phase, phase);
    EXPECT_EQ(read.rows[at].kernel.phase, phase);
    EXPECT_GE(read.rows[at].kernel.start_ns, read.spans.at(read.rows[at].kernel.span_id).start_ns);
  };
  expect(0, "draft", Phase::draft);
  expect(1, "verify<float>", Phase::verify);
  expect(2, "[memcpy HtoD]", Phase::verify);
  expect(3, "[memset]", Phase::verify);
  expect(4, "[wait for stream]", Phase::verify);
  EXPECT_EQ(read.rows[5].name, "outside");
  EXPECT_EQ(read.rows[5].kernel.span_id.value(), 0);

  EXPECT_EQ(read.rows[0].track_name, "device 0, stream 7");
  EXPECT_EQ(read.rows[1].track_name, "device 0, stream 8");
  EXPECT_EQ(read.rows[4].track_kind, "sync");
  EXPECT_EQ(read.of_kind("stream").size(), 5U);
  EXPECT_EQ(read.counters.size(), 2U);
  EXPECT_EQ(read.meta.at("device_trace"), "launches");
  EXPECT_EQ(read.meta.at("device_rows"), "6");
  EXPECT_EQ(read.meta.at("device_unattributed"), "1");
  EXPECT_EQ(read.meta.at("device_dropped"), "0");
  EXPECT_EQ(read.meta.at("device_before_span"), "0");
  EXPECT_EQ(read.meta.at("device_clock_offset_ns"), "0");
  EXPECT_EQ(read.meta.count("device_clock_drift_ns"), 1U);
}

TEST_F(DeviceTraceTest, CarriesTheRequestAndTheRound) {
  start();
  traces::Writer& writer = file_.writer();
  traces::Request request;
  request.run_id = writer.add(traces::Run{0, "vanilla", "vanilla", "{}", true});
  request.prompt_id = writer.add(traces::Prompt{});
  request.id = writer.next_request_id();
  request.start_ns = now_ns();
  writer.begin(request);
  recorder_.set_request(request.id);

  traces::Round round;
  round.request_id = request.id;
  round.id = writer.next_round_id();
  round.start_ns = now_ns();
  recorder_.set_round(round.id);
  in_phase(Phase::verify, [] { fake_cupti::launch_kernel("verify"); });
  round.end_ns = now_ns();
  writer.add(round, {});
  // A round that an error ends is never added, and its kernels come even later.
  recorder_.set_round(writer.next_round_id());
  in_phase(Phase::verify, [] { fake_cupti::launch_kernel("cut off"); });
  request.end_ns = now_ns();
  writer.finish(request);

  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].kernel.request_id, request.id);
  EXPECT_EQ(read.rows[0].kernel.round_id, round.id);
  EXPECT_EQ(read.rows[1].kernel.request_id, request.id);
  EXPECT_EQ(read.rows[1].kernel.round_id.value(), 0);
}

TEST_F(DeviceTraceTest, NamesLaunchesAfterTheInnermostOperation) {
  start();
  in_phase(Phase::verify, [&] {
    const OperationScope pass(trace_.get(), "forward", -1, Phase::accept);
    fake_cupti::launch_kernel("kernel");
    for (const std::int32_t layer : {3, 7}) {
      const OperationScope attention(trace_.get(), "attention", layer);
      fake_cupti::launch_kernel("kernel");
      {
        const OperationScope mlp(trace_.get(), "mlp", layer);
        fake_cupti::launch_kernel("kernel");
      }
      fake_cupti::set_memory(64);
    }
    fake_cupti::synchronize();
  });
  fake_cupti::launch_kernel("kernel");
  const DeviceRows read = finish();
  std::vector<std::string> found;
  for (const DeviceRow& row : read.rows) found.push_back(row.name + " " + std::to_string(row.kernel.layer));
  EXPECT_THAT(found, testing::ElementsAre("forward: kernel -1", "attention: kernel 3", "mlp: kernel 3",
                                          "attention: [memset] 3", "attention: kernel 7", "mlp: kernel 7",
                                          "attention: [memset] 7", "[wait for stream] -1", "kernel -1"));
  for (const DeviceRow& row : read.rows) {
    EXPECT_EQ(row.kernel.phase == Phase::accept, row.name.find(": ") != std::string::npos) << row.name;
    EXPECT_EQ(row.kernel.graph_id, 0U);
    EXPECT_EQ(row.kernel.graph_node_id, 0U);
  }
  EXPECT_EQ(fake_cupti::seen().open_external_ids, 0);
  EXPECT_EQ(read.meta.at("device_failed_calls"), "0");
  EXPECT_EQ(read.meta.count("device_first_failure"), 0U);
}

TEST_F(DeviceTraceTest, LeavesNoRowOfWorkBeforeTheRecording) {
  auto trace = start_device_trace(DeviceTraceMode::launches);
  ASSERT_TRUE(trace) << trace.error().message;
  fake_cupti::launch_kernel("warm-up");
  fake_cupti::copy_to_device(64);
  (*trace)->record_into(file_.writer());
  recorder_.attach(trace->get());
  in_phase(Phase::verify, [] { fake_cupti::launch_kernel("kernel"); });
  (*trace)->stop();
  const DeviceRows read = file_.close();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].name, "kernel");
  EXPECT_EQ(read.meta.at("device_rows"), "1");
  EXPECT_EQ(read.meta.at("device_unattributed"), "0");
}

TEST_F(DeviceTraceTest, MakesRowsOfAllRecordsWhenFlushed) {
  start();
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  EXPECT_EQ(trace_->counts().rows, 0);  // CUPTI keeps a buffer that is not full
  trace_->flush();
  EXPECT_EQ(trace_->counts().rows, 1);
  EXPECT_EQ(finish().rows.size(), 1U);
}

TEST_F(DeviceTraceTest, NeitherMergesLaunchesNorSerialisesKernels) {
  start();
  const auto& kinds = fake_cupti::seen().ever_enabled;
  EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
  EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_KERNEL));
  EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_RUNTIME));
  EXPECT_TRUE(kinds.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  EXPECT_TRUE(kinds.contains(CUPTI_ACTIVITY_KIND_OVERHEAD));
  EXPECT_TRUE(fake_cupti::seen().clock_before_kinds);
  EXPECT_TRUE(fake_cupti::seen().buffers_before_kinds);
  trace_->stop();
  EXPECT_TRUE(fake_cupti::seen().enabled.empty());
  EXPECT_TRUE(fake_cupti::seen().runtime_calls.empty());
  EXPECT_FALSE(fake_cupti::seen().subscribed);
}

TEST_F(DeviceTraceTest, MakesARowOfEveryRecordOfManyThreads) {
  start();
  fake_cupti::settings().max_buffer_bytes = 2000;
  constexpr int threads = 4;
  constexpr int launches = 500;
  std::atomic<int> running = threads;
  std::vector<std::thread> others;
  others.reserve(threads);
  for (int i = 0; i < threads; ++i)
    others.emplace_back([&] {
      for (int j = 0; j < launches; ++j) {
        fake_cupti::launch_kernel("other");
        // The buffers are bounded, and this test must not lose any.
        if (j % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
      }
      --running;
    });
  std::int64_t mine = 0;
  for (; running > 0; ++mine) in_phase(Phase::draft, [] { fake_cupti::launch_kernel("mine"); });
  for (std::thread& thread : others) thread.join();

  trace_->stop();
  const DeviceTraceCounts counts = trace_->counts();
  EXPECT_EQ(counts.dropped, fake_cupti::seen().dropped);
  EXPECT_EQ(counts.rows, fake_cupti::seen().device_records);
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.size(), static_cast<std::size_t>(counts.rows));
  std::int64_t attributed = 0;
  for (const DeviceRow& row : read.rows) {
    EXPECT_EQ(row.kernel.span_id != 0, row.name == "mine");
    if (row.kernel.span_id != 0) ++attributed;
  }
  if (counts.dropped == 0) {
    EXPECT_EQ(attributed, mine);
    EXPECT_EQ(counts.rows, mine + threads * launches);
  }
}

TEST_F(DeviceTraceTest, CountsWhatCuptiHadNoRoomFor) {
  start();
  fake_cupti::settings().max_buffer_bytes = sizeof(CUpti_ActivityKernel10);
  for (int i = 0; i < 200; ++i) fake_cupti::launch_kernel("kernel");  // no collection takes place
  ASSERT_GT(fake_cupti::seen().dropped, 0);
  trace_->stop();
  EXPECT_EQ(trace_->counts().dropped, fake_cupti::seen().dropped);
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.size(), static_cast<std::size_t>(fake_cupti::seen().device_records));
  EXPECT_EQ(read.meta.at("device_dropped"), std::to_string(fake_cupti::seen().dropped));
}

TEST_F(DeviceTraceTest, CountsCallsThatFailAndSaysWhatTheFirstWas) {
  start();
  fake_cupti::settings().refuses_external_ids = true;
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  // Both the push and the pop failed.
  EXPECT_EQ(trace_->counts().failed_calls, 2);
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].kernel.span_id.value(), 0);
  EXPECT_EQ(read.meta.at("device_failed_calls"), "2");
  EXPECT_EQ(read.meta.at("device_first_failure"), "opening a span: CUPTI_ERROR_NOT_SUPPORTED");
}

TEST_F(DeviceTraceTest, SaysThatABufferCouldNotBeReadToItsEnd) {
  start();
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  const CUpti_Activity unknown{CUPTI_ACTIVITY_KIND_INVALID};
  fake_cupti::emit(&unknown, sizeof unknown);
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("after it"); });
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.meta.at("device_failed_calls"), "1");
  EXPECT_THAT(read.meta.at("device_first_failure"), HasSubstr("reading a buffer to its end: "));
}

TEST_F(DeviceTraceTest, CollectsFinishedBuffersBetweenRounds) {
  start();
  fake_cupti::settings().max_buffer_bytes = 3 * sizeof(CUpti_ActivityKernel10);
  for (int i = 0; i < 50; ++i) in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  EXPECT_GT(trace_->counts().rows, 20);
  EXPECT_EQ(finish().rows.size(), 50U);
}

TEST_F(DeviceTraceTest, TakesBuffersThatComeBackWhileItDetaches) {
  start();
  fake_cupti::settings().gives_back_late = true;
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].kernel.phase, Phase::draft);
}

TEST_F(DeviceTraceTest, SaysHowFarAClockOfItsOwnIs) {
  fake_cupti::settings().reads_given_clock = false;
  start();
  EXPECT_NE(finish().meta.at("device_clock_offset_ns"), "0");
}

TEST_F(DeviceTraceTest, MayBeStoppedTwiceAndIgnoresSpansAfterwards) {
  start();
  const std::int32_t open = recorder_.open_phase(Phase::draft, now_ns());
  EXPECT_EQ(fake_cupti::seen().open_external_ids, 1);
  recorder_.close(open);
  EXPECT_EQ(fake_cupti::seen().open_external_ids, 0);
  recorder_.flush();
  trace_->stop();
  trace_->stop();
  in_phase(Phase::draft, [&] {
    const OperationScope scope(trace_.get(), "operation");
    fake_cupti::launch_kernel("late");
  });
  EXPECT_EQ(trace_->counts().failed_calls, 0);
  trace_->flush();
  EXPECT_TRUE(finish().rows.empty());
}

TEST_F(DeviceTraceTest, NamesTheToolThatHoldsCupti) {
  fake_cupti::settings().subscribe_result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  fake_cupti::settings().holder = "CUPTI for Nsight Systems";
  EXPECT_EQ(error_of_start(),
            "device trace: CUPTI is held by CUPTI for Nsight Systems, expected to be the only tool");
  fake_cupti::settings().holder = "";
  EXPECT_EQ(error_of_start(), "device trace: CUPTI is held by another tool, expected to be the only tool");
  // Host spans continue.
  in_phase(Phase::draft, [] {});
  EXPECT_EQ(finish().spans.size(), 1U);
}

TEST_F(DeviceTraceTest, SaysThatCuptiIsMissing) {
  setenv("DRAFTSCOPE_CUPTI_LIBRARY", "/nowhere/libcupti.so", 1);
  EXPECT_EQ(
      error_of_start(),
      "device trace: CUPTI can't be loaded: /nowhere/libcupti.so is missing or unfit, expected the CUDA "
      "toolkit's");
}

TEST_F(DeviceTraceTest, SaysThatCuptiIsTooOld) {
  fake_cupti::settings().version = 26;
  EXPECT_THAT(error_of_start(), HasSubstr("has CUPTI API version 26, expected 130000 or later"));
}

TEST_F(DeviceTraceTest, SaysWhichFunctionALibraryLacks) {
  setenv("DRAFTSCOPE_CUPTI_LIBRARY", HOLLOW_CUPTI, 1);
  EXPECT_THAT(error_of_start(), HasSubstr("has no function cuptiGetResultString"));
}

TEST_F(DeviceTraceTest, LeavesNothingEnabledAfterAnError) {
  fake_cupti::settings().refused_kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  EXPECT_EQ(error_of_start(), "device trace: enabling activity kind 17: CUPTI_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(fake_cupti::seen().sessions, 1);
  EXPECT_FALSE(fake_cupti::seen().subscribed);
  EXPECT_TRUE(fake_cupti::seen().enabled.empty());
}

TEST_F(DeviceTraceTest, IsNoneWhenOff) {
  const auto off = start_device_trace(DeviceTraceMode::off);
  ASSERT_TRUE(off);
  EXPECT_EQ(*off, nullptr);
  EXPECT_EQ(fake_cupti::seen().sessions, 0);
}

// With a driver it starts; otherwise the reason is one line.
TEST(InstalledCupti, StartsOrSaysInOneLineWhyNot) {
  unsetenv("DRAFTSCOPE_CUPTI_LIBRARY");
  TraceFile file;
  const auto started = start_device_trace(DeviceTraceMode::launches);
  if (started) {
    (*started)->record_into(file.writer());
    (*started)->stop();
    EXPECT_EQ(file.close().meta.at("device_trace"), "launches");
    return;
  }
  EXPECT_THAT(started.error().message, testing::StartsWith("device trace: "));
  EXPECT_THAT(started.error().message, HasSubstr(", expected "));
  EXPECT_THAT(started.error().message, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace draftscope::profiler
