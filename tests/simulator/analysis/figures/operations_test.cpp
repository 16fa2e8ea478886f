// SPDX-License-Identifier: GPL-3.0-or-later
// Breakdown of a device's time by operation: nothing is lost, and nothing is counted twice.
#include <draftscope/simulator/analysis/operations.h>
#include <draftscope/traces/writer.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <numeric>
#include <random>

#include "../../../temporary_folder.h"

namespace draftscope::simulator {
namespace {

using traces::Kernel;
using traces::Phase;

constexpr std::int64_t barrier_ns = 900;

/// A recording of one vanilla run in which each round is a launch with the same operations.
class Operations : public testing::Test {
 protected:
  Operations() {
    auto made = traces::Writer::create(path_, {{"device", "cuda"}, {"processor", "NVIDIA H200"}});
    EXPECT_TRUE(made);
    writer_ = std::move(*made);
    stream_ = writer_->add(traces::Track{0, "stream", "device 0, stream 7", 0, 0});
    traces::Run run;
    run.strategy = run.specification = "vanilla";
    run.parameters = "{}";
    run.is_baseline = true;
    request_.run_id = writer_->add(run);
    traces::Prompt prompt;
    prompt.tokens = {1};
    request_.prompt_id = writer_->add(prompt);
    request_.id = writer_->next_request_id();
    writer_->begin(request_);
  }

  traces::RoundId add_round() {
    traces::Round round;
    round.id = writer_->next_round_id();
    round.request_id = request_.id;
    round.index = rounds_++;
    round.start_ns = round.end_ns = now_ns_;
    round.verify_rows = round.emitted = 1;
    writer_->add(round, {});
    return round.id;
  }
  traces::SpanId add_span(traces::RoundId round, std::string_view name = "verify", std::int64_t ns = 0) {
    if (host_.is_none()) host_ = writer_->add(traces::Track{0, "host", "decoding", 0, 0});
    traces::Span span;
    span.id = writer_->next_span_id();
    span.track_id = host_;
    span.request_id = request_.id;
    span.round_id = round;
    span.start_ns = now_ns_;
    span.end_ns = now_ns_ + ns;
    span.name_id = writer_->intern(name);
    span.phase = Phase::verify;
    writer_->add(std::span<const traces::Span>(&span, 1));
    return span.id;
  }
  Kernel row(traces::TrackId track, traces::RoundId round, traces::SpanId span, std::string_view name,
             std::int64_t ns) {
    Kernel kernel;
    kernel.id = writer_->next_kernel_id();
    kernel.track_id = track;
    kernel.span_id = span;
    kernel.request_id = request_.id;
    kernel.round_id = round;
    kernel.short_name_id = writer_->intern(name);
    kernel.phase = Phase::verify;
    kernel.start_ns = now_ns_;
    kernel.end_ns = now_ns_ + ns;
    return kernel;
  }
  void add(const Kernel& kernel) { writer_->add(std::span<const Kernel>(&kernel, 1)); }

  /// Ends the request as finished and begins the run's next one.
  void begin_next_request() {
    request_.end_ns = now_ns_;
    writer_->finish(request_);
    request_.id = writer_->next_request_id();
    request_.start_ns = now_ns_;
    request_.repeat += 1;
    rounds_ = 0;
    writer_->begin(request_);
  }

  RecordedOperations read() {
    request_.end_ns = now_ns_;
    writer_->finish(request_);
    EXPECT_TRUE(writer_->close());
    auto reader = traces::Reader::open(path_);
    EXPECT_TRUE(reader) << reader.error().message;
    const auto recording = reader->recording();
    EXPECT_TRUE(recording);
    auto operations = read_operations(*reader, *recording);
    EXPECT_TRUE(operations);
    return std::move(*operations);
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "trace.dstrace";
  std::unique_ptr<traces::Writer> writer_;
  traces::Request request_;
  traces::TrackId stream_, host_;
  std::int64_t now_ns_ = 1'000'000;
  std::int32_t rounds_ = 0;
};

TEST_F(Operations, HaveAllTheTimeOfTheirLaunches) {
  const traces::TrackId track = writer_->add(traces::Track{0, "operations", "operations", 0, 1});
  std::mt19937 random(7);
  const auto between = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  constexpr std::array names{"qkv", "attention", "down"};
  std::int64_t all_ns = 0;
  std::int64_t all_bytes = 0;
  std::int64_t all_waits = 0;
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    const traces::RoundId round = add_round();
    const traces::SpanId span = add_span(round);
    const std::int64_t begin_ns = now_ns_;
    Kernel launch = row(stream_, round, span, "forward: program", 0);
    for (std::size_t n = 0; n < names.size(); ++n) {
      if (n > 0) now_ns_ += barrier_ns;
      Kernel kernel = row(track, round, span, names[n], between(1, 10'000));
      kernel.wait_ns = between(0, kernel.end_ns - kernel.start_ns);
      kernel.bytes = n == 1 ? 0 : between(1, 40'000'000);
      all_bytes += kernel.bytes;
      all_waits += kernel.wait_ns;
      now_ns_ = kernel.end_ns;
      add(kernel);
    }
    all_ns += now_ns_ - begin_ns;
    launch.end_ns = now_ns_;
    add(launch);
    now_ns_ += between(0, 50'000);  // This time belongs to the host, not to an operation.
  }
  const RecordedOperations operations = read();
  EXPECT_TRUE(operations.timed_by_device);
  ASSERT_EQ(operations.rows.size(), names.size());
  std::int64_t ns = 0;
  std::int64_t before_ns = 0;
  for (const OperationFigures& row : operations.rows) {
    EXPECT_EQ(row.executions, rounds);
    EXPECT_EQ(row.phase, Phase::verify);
    EXPECT_EQ(row.rate_gb_s().has_value(), row.name != "attention");
    ns += row.ns;
    before_ns += row.before_ns;
  }
  EXPECT_EQ(ns, all_ns);
  EXPECT_EQ(before_ns, 2 * rounds * barrier_ns);
  ASSERT_TRUE(operations.read_gb_s);
  const std::vector<TimeOfOperations> times = times_of(operations);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].ns, all_ns);
  EXPECT_EQ(times[0].longest, operations.rows.front().name);
  const auto share = [&](double part) { return part / static_cast<double>(all_ns); };
  EXPECT_DOUBLE_EQ(times[0].waiting, share(static_cast<double>(all_waits)));
  ASSERT_TRUE(times[0].reading);
  EXPECT_NEAR(*times[0].reading, share(static_cast<double>(all_bytes) / *operations.read_gb_s), 1e-12);
}

TEST_F(Operations, AreLaunchesWhereProgramsDidNotTimeThemselves) {
  const traces::RoundId round = add_round();
  const traces::SpanId span = add_span(round);
  Kernel first = row(stream_, round, span, "qkv: program", 100);
  now_ns_ += 60;
  Kernel overlapping = row(stream_, round, span, "down: program", 100);
  now_ns_ += 10;
  Kernel within = row(stream_, round, span, "down: program", 20);
  for (const Kernel& kernel : {first, overlapping, within}) add(kernel);
  now_ns_ += 1000;
  const RecordedOperations operations = read();
  EXPECT_FALSE(operations.timed_by_device);
  ASSERT_EQ(operations.rows.size(), 2U);
  EXPECT_EQ(operations.rows[0].ns, 100);
  EXPECT_EQ(operations.rows[1].ns, 60);
  EXPECT_EQ(operations.rows[1].executions, 2);
  EXPECT_FALSE(times_of(operations).at(0).reading);
}

/// Wall times and tokens are of finished requests, and so are the times of operations beside them.
TEST_F(Operations, AreOfFinishedRequestsAlone) {
  for (const bool is_last : {false, true}) {
    const traces::RoundId round = add_round();
    add(row(stream_, round, add_span(round), "qkv: program", is_last ? 7000 : 100));
    now_ns_ += 10'000;
    if (!is_last) begin_next_request();
  }
  request_.stop = traces::RequestStop::cancelled;
  const RecordedOperations operations = read();
  ASSERT_EQ(operations.rows.size(), 1U);
  EXPECT_EQ(operations.rows[0].executions, 1);
  EXPECT_EQ(operations.rows[0].ns, 100);
}

TEST_F(Operations, OfAProcessorAreOfFinishedRequestsAlone) {
  for (const bool is_last : {false, true}) {
    add_span(add_round(), "qkv", is_last ? 7000 : 100);
    now_ns_ += 10'000;
    if (!is_last) begin_next_request();
  }
  request_.stop = traces::RequestStop::cancelled;
  EXPECT_TRUE(read().rows.empty());
  auto reader = traces::Reader::open(path_);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto recording = reader->recording();
  ASSERT_TRUE(recording);
  const auto times = read_operation_times(*reader, *recording);
  ASSERT_TRUE(times);
  ASSERT_EQ(times->size(), 1U);
  EXPECT_EQ(times->front().ns[0], 100);
}

TEST_F(Operations, AreNoneWhereNoDeviceWasRecorded) {
  add_round();
  EXPECT_TRUE(read().rows.empty());
}

}  // namespace
}  // namespace draftscope::simulator
