// SPDX-License-Identifier: GPL-3.0-or-later
// From start to the rows in a file, with a CUPTI that has no device.
#include <draftscope/base/clock.h>
#include <draftscope/profiler/device_trace.h>
#include <draftscope/profiler/span_recorder.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
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

  void start(DeviceTraceMode mode) {
    auto started = start_device_trace(mode);
    ASSERT_TRUE(started) << started.error().message;
    trace_ = std::move(*started);
    trace_->record_into(file_.writer());
    recorder_.attach(trace_.get());
  }

  std::string error_of_start() {
    const auto started = start_device_trace(DeviceTraceMode::graph);
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
  start(DeviceTraceMode::graph);
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
  EXPECT_EQ(read.meta.at("device_trace"), "graph");
  EXPECT_EQ(read.meta.at("device_rows"), "6");
  EXPECT_EQ(read.meta.at("device_unattributed"), "1");
  EXPECT_EQ(read.meta.at("device_dropped"), "0");
  EXPECT_EQ(read.meta.at("device_before_span"), "0");
  EXPECT_EQ(read.meta.at("device_clock_offset_ns"), "0");
  EXPECT_EQ(read.meta.count("device_clock_drift_ns"), 1U);
}

TEST_F(DeviceTraceTest, CarriesTheRequestAndTheRound) {
  start(DeviceTraceMode::graph);
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
  // A round that an error ends is never added; its kernels come later still.
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

fake_cupti::Graph captured_graph(DeviceTrace* trace) {
  std::vector<std::uint64_t> nodes;
  const GraphScope graph(trace, "verify of 5 rows");
  for (const std::int32_t layer : {0, 1}) {
    const GraphScope attention(trace, "attention", layer);
    nodes.push_back(fake_cupti::capture_kernel());
    {
      const GraphScope mlp(trace, "mlp", layer);
      nodes.push_back(fake_cupti::capture_kernel());
    }
  }
  return fake_cupti::instantiate(nodes);
}

TEST_F(DeviceTraceTest, RecordsALaunchOfAGraphAsOneRowInGraphMode) {
  start(DeviceTraceMode::graph);
  const fake_cupti::Graph graph = captured_graph(trace_.get());
  for (int i = 0; i < 3; ++i) in_phase(Phase::verify, [&] { fake_cupti::launch_graph(graph, "kernel"); });
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 3U);
  for (const DeviceRow& row : read.rows) {
    EXPECT_EQ(row.name, "verify of 5 rows: [graph]");
    EXPECT_EQ(row.kernel.graph_id, graph.executable);
    EXPECT_EQ(row.kernel.phase, Phase::verify);
    EXPECT_EQ(row.kernel.block_x, 0);
  }
}

TEST_F(DeviceTraceTest, RecordsEveryNodeWithItsLayerAndOperationInNodeMode) {
  start(DeviceTraceMode::node);
  const fake_cupti::Graph graph = captured_graph(trace_.get());
  in_phase(Phase::verify, [&] { fake_cupti::launch_graph(graph, "kernel"); });
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 4U);
  const char* const names[] = {"attention: kernel", "mlp: kernel", "attention: kernel", "mlp: kernel"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read.rows[i].name, names[i]);
    EXPECT_EQ(read.rows[i].kernel.layer, static_cast<std::int32_t>(i / 2));
    EXPECT_EQ(read.rows[i].kernel.graph_node_id, graph.nodes[i]);
    EXPECT_EQ(read.rows[i].kernel.phase, Phase::verify);
  }
  EXPECT_EQ(read.meta.at("device_trace"), "node");
}

TEST_F(DeviceTraceTest, KnowsWhichLayersStoodAtTheGraphsPlacesWhenItWasLaunched) {
  start(DeviceTraceMode::node);
  const fake_cupti::Graph graph = captured_graph(trace_.get());
  for (const std::vector<std::int32_t>& layers : {std::vector<std::int32_t>{3, 7}, {2}, {3, 7}})
    in_phase(Phase::draft, [&] {
      const LayersScope scope(trace_.get(), layers);
      fake_cupti::launch_graph(graph, "kernel");
    });
  in_phase(Phase::verify, [&] { fake_cupti::launch_graph(graph, "kernel"); });
  std::vector<std::int32_t> found;
  for (const DeviceRow& row : finish().rows) found.push_back(row.kernel.layer);
  EXPECT_THAT(found, testing::ElementsAre(3, 3, 7, 7, 2, 2, -1, -1, 3, 3, 7, 7, 0, 0, 1, 1));
}

TEST_F(DeviceTraceTest, GivesAGraphThePhaseThatItWasCapturedFor) {
  for (const auto mode : {DeviceTraceMode::graph, DeviceTraceMode::node}) {
    fake_cupti::reset();
    TraceFile file;
    auto trace = start_device_trace(mode);
    ASSERT_TRUE(trace) << trace.error().message;
    (*trace)->record_into(file.writer());
    SpanRecorder recorder(Level::phases, &file.writer());
    recorder.attach(trace->get());
    fake_cupti::Graph graph;
    {
      const GraphScope verification(trace->get(), "verification", -1, Phase::verify);
      const GraphScope head(trace->get(), "head");
      graph = fake_cupti::instantiate({fake_cupti::capture_kernel()});
    }
    const std::int32_t draft = recorder.open_phase(Phase::draft, now_ns());
    fake_cupti::launch_graph(graph, "kernel");
    recorder.close(draft);
    recorder.flush();
    (*trace)->stop();
    const DeviceRows read = file.close();
    ASSERT_EQ(read.rows.size(), 1U);
    EXPECT_EQ(read.rows[0].kernel.phase, Phase::verify);
    EXPECT_EQ(read.spans.at(read.rows[0].kernel.span_id).phase, Phase::draft);
  }
}

TEST_F(DeviceTraceTest, LeavesNoRowOfWorkBeforeTheRecordingButKnowsItsGraphs) {
  auto trace = start_device_trace(DeviceTraceMode::node);
  ASSERT_TRUE(trace) << trace.error().message;
  const fake_cupti::Graph graph = captured_graph(trace->get());
  fake_cupti::launch_graph(graph, "warm-up");
  fake_cupti::copy_to_device(64);
  (*trace)->record_into(file_.writer());
  recorder_.attach(trace->get());
  in_phase(Phase::verify, [&] { fake_cupti::launch_graph(graph, "kernel"); });
  (*trace)->stop();
  const DeviceRows read = file_.close();
  ASSERT_EQ(read.rows.size(), 4U);
  EXPECT_EQ(read.rows[0].name, "attention: kernel");
  EXPECT_EQ(read.rows[3].kernel.layer, 1);
  EXPECT_EQ(read.meta.at("device_rows"), "4");
  EXPECT_EQ(read.meta.at("device_unattributed"), "0");
}

TEST_F(DeviceTraceTest, RecordsKernelsOnlyInsideWindowsOfNodeMode) {
  start(DeviceTraceMode::node);
  const auto launch = [&](const char* name) {
    in_phase(Phase::draft, [&] { fake_cupti::launch_kernel(name); });
  };
  launch("first window");
  trace_->end_window();
  EXPECT_EQ(trace_->counts().rows, 1);
  launch("between");
  trace_->begin_window();
  launch("second window");
  trace_->end_window();
  EXPECT_EQ(trace_->counts().rows, 2);
  launch("after");
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 2U);
  EXPECT_EQ(read.rows[0].name, "first window");
  EXPECT_EQ(read.rows[1].name, "second window");
}

TEST_F(DeviceTraceTest, NeverMixesTheModesNorSerialisesKernels) {
  for (const auto mode : {DeviceTraceMode::graph, DeviceTraceMode::node}) {
    fake_cupti::reset();
    TraceFile file;
    auto trace = start_device_trace(mode);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto& kinds = fake_cupti::seen().ever_enabled;
    EXPECT_EQ(kinds.contains(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), mode == DeviceTraceMode::graph);
    EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_KERNEL));
    EXPECT_FALSE(kinds.contains(CUPTI_ACTIVITY_KIND_RUNTIME));
    EXPECT_TRUE(kinds.contains(CUPTI_ACTIVITY_KIND_OVERHEAD));
    EXPECT_TRUE(fake_cupti::seen().clock_before_kinds);
    EXPECT_TRUE(fake_cupti::seen().buffers_before_kinds);
    (*trace)->stop();
    EXPECT_TRUE(fake_cupti::seen().enabled.empty());
    EXPECT_TRUE(fake_cupti::seen().runtime_calls.empty());
    EXPECT_FALSE(fake_cupti::seen().subscribed);
  }
}

TEST_F(DeviceTraceTest, MakesARowOfEveryRecordOfManyThreads) {
  start(DeviceTraceMode::node);
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
        // The buffers are bounded, and this test is about not losing any.
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
  start(DeviceTraceMode::node);
  fake_cupti::settings().max_buffer_bytes = sizeof(CUpti_ActivityKernel10);
  for (int i = 0; i < 200; ++i) fake_cupti::launch_kernel("kernel");  // nobody collects
  ASSERT_GT(fake_cupti::seen().dropped, 0);
  trace_->stop();
  EXPECT_EQ(trace_->counts().dropped, fake_cupti::seen().dropped);
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.size(), static_cast<std::size_t>(fake_cupti::seen().device_records));
  EXPECT_EQ(read.meta.at("device_dropped"), std::to_string(fake_cupti::seen().dropped));
}

TEST_F(DeviceTraceTest, CountsCallsThatFailAndSaysWhatTheFirstWas) {
  start(DeviceTraceMode::graph);
  fake_cupti::settings().refuses_external_ids = true;
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  // Pushed in vain, popped in vain.
  EXPECT_EQ(trace_->counts().failed_calls, 2);
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].kernel.span_id.value(), 0);
  EXPECT_EQ(read.meta.at("device_failed_calls"), "2");
  EXPECT_EQ(read.meta.at("device_first_failure"), "opening a span: CUPTI_ERROR_NOT_SUPPORTED");
}

TEST_F(DeviceTraceTest, SaysThatABufferCouldNotBeReadToItsEnd) {
  start(DeviceTraceMode::graph);
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  const CUpti_Activity unknown{CUPTI_ACTIVITY_KIND_INVALID};
  fake_cupti::emit(&unknown, sizeof unknown);
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("behind it"); });
  const DeviceRows read = finish();
  EXPECT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.meta.at("device_failed_calls"), "1");
  EXPECT_THAT(read.meta.at("device_first_failure"), HasSubstr("reading a buffer to its end: "));
}

TEST_F(DeviceTraceTest, CountsNoFailureWhereThereIsNone) {
  start(DeviceTraceMode::node);
  const fake_cupti::Graph graph = captured_graph(trace_.get());
  in_phase(Phase::verify, [&] { fake_cupti::launch_graph(graph, "kernel"); });
  trace_->end_window();
  trace_->begin_window();
  const DeviceRows read = finish();
  EXPECT_EQ(read.meta.at("device_failed_calls"), "0");
  EXPECT_EQ(read.meta.count("device_first_failure"), 0U);
}

TEST_F(DeviceTraceTest, CollectsFinishedBuffersBetweenRounds) {
  start(DeviceTraceMode::graph);
  fake_cupti::settings().max_buffer_bytes = 3 * sizeof(CUpti_ActivityKernel10);
  for (int i = 0; i < 50; ++i) in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  EXPECT_GT(trace_->counts().rows, 20);
  EXPECT_EQ(finish().rows.size(), 50U);
}

TEST_F(DeviceTraceTest, TakesBuffersThatComeBackWhileItDetaches) {
  start(DeviceTraceMode::graph);
  fake_cupti::settings().gives_back_late = true;
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("kernel"); });
  const DeviceRows read = finish();
  ASSERT_EQ(read.rows.size(), 1U);
  EXPECT_EQ(read.rows[0].kernel.phase, Phase::draft);
}

TEST_F(DeviceTraceTest, CountsKernelsThatSeemToPrecedeTheirSpan) {
  start(DeviceTraceMode::graph);
  fake_cupti::settings().clock_shift_ns = -1'000'000'000;
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("early"); });
  EXPECT_EQ(finish().meta.at("device_before_span"), "1");
}

TEST_F(DeviceTraceTest, SaysHowFarAClockOfItsOwnIs) {
  fake_cupti::settings().reads_given_clock = false;
  start(DeviceTraceMode::graph);
  EXPECT_NE(finish().meta.at("device_clock_offset_ns"), "0");
}

TEST_F(DeviceTraceTest, MayBeStoppedTwiceAndIgnoresSpansAfterwards) {
  start(DeviceTraceMode::graph);
  const std::int32_t open = recorder_.open_phase(Phase::draft, now_ns());
  EXPECT_EQ(fake_cupti::seen().open_external_ids, 1);
  recorder_.close(open);
  EXPECT_EQ(fake_cupti::seen().open_external_ids, 0);
  recorder_.flush();
  trace_->stop();
  trace_->stop();
  in_phase(Phase::draft, [] { fake_cupti::launch_kernel("late"); });
  trace_->begin_window();
  trace_->end_window();
  EXPECT_TRUE(finish().rows.empty());
}

TEST_F(DeviceTraceTest, NamesTheToolThatHoldsCupti) {
  fake_cupti::settings().subscribe_result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  fake_cupti::settings().holder = "CUPTI for Nsight Systems";
  EXPECT_EQ(error_of_start(),
            "device trace: CUPTI is held by CUPTI for Nsight Systems, expected to be the only tool");
  fake_cupti::settings().holder = "";
  EXPECT_EQ(error_of_start(), "device trace: CUPTI is held by another tool, expected to be the only tool");
  // Host spans go on.
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

TEST_F(DeviceTraceTest, RefusesASecondSessionWhereCuptiMixesThemUp) {
  start(DeviceTraceMode::graph);
  trace_->stop();
  fake_cupti::settings().version = 130001;
  EXPECT_THAT(error_of_start(), HasSubstr("this process has had a session"));
  EXPECT_EQ(fake_cupti::seen().sessions, 1);
}

TEST_F(DeviceTraceTest, IsNoneWhenOff) {
  const auto off = start_device_trace(DeviceTraceMode::off);
  ASSERT_TRUE(off);
  EXPECT_EQ(*off, nullptr);
  EXPECT_EQ(fake_cupti::seen().sessions, 0);
}

// Where there is a driver it starts; everywhere else it says so in a line.
TEST(InstalledCupti, StartsOrSaysInOneLineWhyNot) {
  unsetenv("DRAFTSCOPE_CUPTI_LIBRARY");
  TraceFile file;
  const auto started = start_device_trace(DeviceTraceMode::graph);
  if (started) {
    (*started)->record_into(file.writer());
    (*started)->stop();
    EXPECT_EQ(file.close().meta.at("device_trace"), "graph");
    return;
  }
  EXPECT_THAT(started.error().message, testing::StartsWith("device trace: "));
  EXPECT_THAT(started.error().message, HasSubstr(", expected "));
  EXPECT_THAT(started.error().message, Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace draftscope::profiler
