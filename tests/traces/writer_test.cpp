// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "../value_of.h"
#include "sample.h"

namespace draftscope::traces {
namespace {

TEST(Writer, LeavesASingleFile) {
  const SampleFile file;
  EXPECT_THAT(names_in(file.folder), testing::ElementsAre("trace.dstrace"));
  EXPECT_EQ(query(file.path, "PRAGMA journal_mode")[0][0], "delete");
}

TEST(Writer, GivesTheSameIdForTheSameTextAndTheSameLayerSet) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  EXPECT_EQ(writer->intern("verify"), writer->intern(std::string("verify")));
  EXPECT_NE(writer->intern("verify"), writer->intern("draft"));
  const LayerSet set{0, 4, 2, {0xF0}, "fixed"};
  LayerSet other = set;
  other.origin = "swift";
  EXPECT_EQ(writer->add(set), writer->add(set));
  EXPECT_NE(writer->add(set), writer->add(other));
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(query(folder / "trace.dstrace", "SELECT count(*) FROM layer_sets")[0][0], "2");
}

TEST(Writer, ReplacesMetaThatIsSetAgain) {
  const TestFolder folder;
  auto writer = Writer::create(folder / "trace.dstrace", {{"device", "?"}});
  ASSERT_TRUE(writer);
  (*writer)->set_meta("device", "cpu");
  (*writer)->set_meta("clock_end_monotonic_ns", "17");
  ASSERT_TRUE((*writer)->close());
  EXPECT_EQ(query(folder / "trace.dstrace", "SELECT key, value FROM meta ORDER BY key"),
            (std::vector<std::vector<std::string>>{{"clock_end_monotonic_ns", "17"},
                                                   {"closed_cleanly", "1"},
                                                   {"device", "cpu"},
                                                   {"dropped_counters", "0"},
                                                   {"dropped_kernels", "0"},
                                                   {"dropped_spans", "0"}}));
}

/// A request of vanilla decoding that has begun.
Request begun_request(Writer& writer) {
  Request request;
  request.id = writer.next_request_id();
  request.run_id = writer.add(traces::Run{0, "vanilla", "vanilla", "{}", true});
  request.prompt_id = writer.add(Prompt{});
  writer.begin(request);
  return request;
}

TEST(Writer, TakesKernelsOfARoundThatNeverCame) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  const Request request = begun_request(*writer);
  Kernel kernel;
  kernel.track_id = writer->add(Track{0, "stream", "stream 7", 0, 0});
  kernel.short_name_id = writer->intern("kernel");
  kernel.request_id = request.id;
  kernel.round_id = writer->next_round_id();
  for (const bool is_late : {false, true}) {
    if (is_late) writer->finish(request);
    kernel.id = writer->next_kernel_id();
    writer->add(std::span<const Kernel>(&kernel, 1));
  }
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(query(folder / "trace.dstrace", "SELECT count(*) FROM kernels WHERE round IS NULL")[0][0], "2");
}

TEST(Writer, RefusesToReplaceAFileUnlessAskedTo) {
  const TestFolder folder;
  const auto path = folder / "trace.dstrace";
  write_file(path, "precious");
  const auto refused = Writer::create(path, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, testing::StartsWith(path.string() + ": exists already"));
  EXPECT_EQ(read_file(path), "precious");
  const auto replaced = value_of(Writer::create(path, {}, {.overwrite = true}));
  ASSERT_TRUE(replaced->close());
  EXPECT_TRUE(Reader::open(path));
}

TEST(Writer, SaysInOneLineThatAFolderIsMissing) {
  const TestFolder folder;
  const auto writer = Writer::create(folder / "no/trace.dstrace", {});
  ASSERT_FALSE(writer);
  EXPECT_THAT(writer.error().message, testing::HasSubstr("/no/trace.dstrace: can't be created"));
  EXPECT_THAT(writer.error().message, testing::HasSubstr("No such file or directory"));
}

TEST(Writer, DropsAndCountsSpansWhenTheQueueIsFullButNeverRounds) {
  const TestFolder folder;
  const auto path = folder / "trace.dstrace";
  auto writer = value_of(Writer::create(path, {}, {.queue_rows = 40}));
  Sample sample;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    Sample more = write_sample(*writer, {.seed = seed, .max_rounds = 30});
    auto& all = sample.recording;
    all.rounds.insert(all.rounds.end(), more.recording.rounds.begin(), more.recording.rounds.end());
    all.draft_tokens.insert(all.draft_tokens.end(), more.recording.draft_tokens.begin(),
                            more.recording.draft_tokens.end());
    sample.decisions.insert(sample.decisions.end(), more.decisions.begin(), more.decisions.end());
    sample.shadow_tokens.insert(sample.shadow_tokens.end(), more.shadow_tokens.begin(),
                                more.shadow_tokens.end());
    sample.spans.insert(sample.spans.end(), more.spans.begin(), more.spans.end());
    sample.kernels.insert(sample.kernels.end(), more.kernels.begin(), more.kernels.end());
    sample.counters.insert(sample.counters.end(), more.counters.begin(), more.counters.end());
  }
  ASSERT_TRUE(writer->close());
  const WriterCounts counts = writer->counts();
  EXPECT_GT(counts.dropped_spans, 0);
  const auto rows = [&](const std::string& table) {
    return std::stoll(query(path, "SELECT count(*) FROM " + table)[0][0]);
  };
  EXPECT_EQ(rows("rounds"), static_cast<std::int64_t>(sample.recording.rounds.size()));
  EXPECT_EQ(rows("draft_tokens"), static_cast<std::int64_t>(sample.recording.draft_tokens.size()));
  EXPECT_EQ(rows("decisions"), static_cast<std::int64_t>(sample.decisions.size()));
  EXPECT_EQ(rows("shadow_tokens"), static_cast<std::int64_t>(sample.shadow_tokens.size()));
  EXPECT_EQ(rows("spans") + counts.dropped_spans, static_cast<std::int64_t>(sample.spans.size()));
  EXPECT_EQ(rows("kernels") + counts.dropped_kernels, static_cast<std::int64_t>(sample.kernels.size()));
  EXPECT_EQ(rows("counters") + counts.dropped_counters, static_cast<std::int64_t>(sample.counters.size()));
  EXPECT_EQ(query(path, "SELECT value FROM meta WHERE key = 'dropped_spans'")[0][0],
            std::to_string(counts.dropped_spans));
  auto reader = value_of(Reader::open(path));
  expect_sound(reader);
}

TEST(Writer, FreesTheSpansOfARoundThatNeverCame) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  Request request = begun_request(*writer);
  std::vector<Span> spans(1);
  spans[0].id = writer->next_span_id();
  spans[0].track_id = writer->add(Track{0, "host", "decoding", 0, 0});
  spans[0].request_id = request.id;
  spans[0].round_id = writer->next_round_id();
  spans[0].name_id = writer->intern("draft");
  writer->add(std::span<const Span>(spans));
  request.start_ns = request.end_ns = 5;
  request.stop = RequestStop::cancelled;
  writer->finish(request);
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(query(folder / "trace.dstrace", "SELECT request, round FROM spans"),
            (std::vector<std::vector<std::string>>{{"1", "NULL"}}));
  EXPECT_TRUE(Reader::open(folder / "trace.dstrace")->validate()->empty());
}

TEST(Writer, KeepsTheDecisionsOfARoundThatNeverCameWithTheirRequest) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  Request request = begun_request(*writer);
  Decision decision;
  decision.request_id = request.id;
  decision.round_id = writer->next_round_id();
  decision.kind_id = writer->intern("exit");
  EXPECT_EQ(writer->add(decision).value(), 1);
  request.stop = RequestStop::cancelled;
  request.end_ns = 5;
  writer->finish(request);
  EXPECT_EQ(writer->add(decision).value(), 2) << "late, as from a thread that searches";
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(query(folder / "trace.dstrace", "SELECT request, round, score FROM decisions"),
            (std::vector<std::vector<std::string>>{{"1", "NULL", "NULL"}, {"1", "NULL", "NULL"}}));
  EXPECT_TRUE(Reader::open(folder / "trace.dstrace")->validate()->empty());
}

// An exception that ends the recording has the same effect.
TEST(Writer, CallsARecordingCutOffThatGoesAmidARequest) {
  const TestFolder folder;
  for (const bool is_finished : {true, false}) {
    const auto path = folder / (is_finished ? "whole.dstrace" : "cut.dstrace");
    {
      auto writer = value_of(Writer::create(path, {}));
      Request request = begun_request(*writer);
      request.end_ns = 5;
      if (is_finished) writer->finish(request);
    }
    auto reader = value_of(Reader::open(path));
    EXPECT_EQ(reader.recording()->closed_cleanly, is_finished);
    EXPECT_TRUE(reader.validate()->empty());
  }
}

TEST(Writer, RoundsWhatItKeepsInMillionthsButNoSmallMarginToATie) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  std::vector<ShadowToken> rows(4);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].layer = static_cast<std::int32_t>(i) + 1;
  rows[0].probability = 0.12345678;
  rows[0].margin = 0.0;
  rows[1].margin = 1e-9;
  rows[2].margin = std::numeric_limits<double>::quiet_NaN();
  rows[3].margin = std::numeric_limits<double>::infinity();
  writer->add(std::span<const ShadowToken>(rows));
  ASSERT_TRUE(writer->close());
  EXPECT_EQ(
      query(folder / "trace.dstrace", "SELECT probability_millionths, margin_millionths FROM shadow_tokens"),
      (std::vector<std::vector<std::string>>{{"123457", "0"}, {"0", "1"}, {"0", "NULL"}, {"0", "NULL"}}));
}

TEST(Writer, CanBeClosedTwice) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  EXPECT_TRUE(writer->close());
  EXPECT_TRUE(writer->close());
}

}  // namespace
}  // namespace draftscope::traces
