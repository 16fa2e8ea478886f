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
  std::size_t rounds = 0, draft_tokens = 0, decisions = 0, shadow_tokens = 0, spans = 0, kernels = 0,
              counters = 0;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    const Sample more = write_sample(*writer, {.seed = seed, .max_rounds = 30});
    rounds += more.recording.rounds.size();
    draft_tokens += more.recording.draft_tokens.size();
    decisions += more.decisions.size();
    shadow_tokens += more.shadow_tokens.size();
    spans += more.spans.size();
    kernels += more.kernels.size();
    counters += more.counters.size();
  }
  ASSERT_TRUE(writer->close());
  const WriterCounts counts = writer->counts();
  EXPECT_GT(counts.dropped_spans, 0);
  const auto expect_rows = [&](const std::string& table, std::size_t written, std::int64_t dropped = 0) {
    EXPECT_EQ(std::stoll(query(path, "SELECT count(*) FROM " + table)[0][0]) + dropped,
              static_cast<std::int64_t>(written))
        << table;
  };
  expect_rows("rounds", rounds);
  expect_rows("draft_tokens", draft_tokens);
  expect_rows("decisions", decisions);
  expect_rows("shadow_tokens", shadow_tokens);
  expect_rows("spans", spans, counts.dropped_spans);
  expect_rows("kernels", kernels, counts.dropped_kernels);
  expect_rows("counters", counters, counts.dropped_counters);
  EXPECT_EQ(query(path, "SELECT value FROM meta WHERE key = 'dropped_spans'")[0][0],
            std::to_string(counts.dropped_spans));
  auto reader = value_of(Reader::open(path));
  expect_sound(reader);
}

TEST(Writer, KeepsTheRowsOfARoundThatNeverCameWithTheirRequest) {
  const TestFolder folder;
  auto writer = value_of(Writer::create(folder / "trace.dstrace", {}));
  Request request = begun_request(*writer);
  Span span;
  span.id = writer->next_span_id();
  span.track_id = writer->add(Track{0, "host", "decoding", 0, 0});
  span.request_id = request.id;
  span.round_id = writer->next_round_id();
  span.name_id = writer->intern("draft");
  writer->add(std::span<const Span>(&span, 1));
  Kernel kernel;
  kernel.track_id = writer->add(Track{0, "stream", "stream 7", 0, 0});
  kernel.short_name_id = writer->intern("kernel");
  kernel.request_id = request.id;
  kernel.round_id = span.round_id;
  Decision decision;
  decision.request_id = request.id;
  decision.round_id = span.round_id;
  decision.kind_id = writer->intern("exit");
  request.stop = RequestStop::cancelled;
  request.end_ns = 5;
  // A device's rows, and those of a thread that searches, may come after their request has ended.
  for (const bool is_late : {false, true}) {
    if (is_late) writer->finish(request);
    kernel.id = writer->next_kernel_id();
    writer->add(std::span<const Kernel>(&kernel, 1));
    EXPECT_EQ(writer->add(decision).value(), is_late ? 2 : 1);
  }
  ASSERT_TRUE(writer->close());
  const auto rows = [&](const std::string& table) {
    return query(folder / "trace.dstrace", "SELECT request, round FROM " + table);
  };
  const std::vector<std::string> without_round{"1", "NULL"};
  EXPECT_THAT(rows("spans"), testing::ElementsAre(without_round));
  EXPECT_THAT(rows("kernels"), testing::ElementsAre(without_round, without_round));
  EXPECT_THAT(rows("decisions"), testing::ElementsAre(without_round, without_round));
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
