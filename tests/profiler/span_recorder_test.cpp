// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/traces/reader.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "allocation_count.h"
#include "temporary_folder.h"

namespace draftscope::profiler {
namespace {

using traces::Phase;
using traces::Span;

std::map<traces::SpanId, Span> by_id(const std::vector<Span>& spans) {
  std::map<traces::SpanId, Span> map;
  for (const Span& span : spans) map[span.id] = span;
  return map;
}

TEST(SpanRecorder, NestsSpansUnderTheirPhaseAndInheritsIt) {
  SpanRecorder recorder(Level::ops, nullptr);
  const traces::StringId layer = recorder.name_id("layer");
  const traces::StringId product = recorder.name_id("product");
  const std::int32_t phase = recorder.open_phase(Phase::verify, now_ns());
  {
    const ScopedSpan outer(&recorder, Level::layers, layer, 3);
    const ScopedSpan inner(&recorder, Level::ops, product, 3);
  }
  recorder.close(phase);
  const std::vector<Span> spans = recorder.take();

  ASSERT_EQ(spans.size(), 3U);
  EXPECT_EQ(spans[0].depth, 0);
  EXPECT_EQ(spans[0].parent_id.value(), 0);
  EXPECT_EQ(spans[1].depth, 1);
  EXPECT_EQ(spans[1].parent_id, spans[0].id);
  EXPECT_EQ(spans[1].name_id, layer);
  EXPECT_EQ(spans[1].layer, 3);
  EXPECT_EQ(spans[2].depth, 2);
  EXPECT_EQ(spans[2].parent_id, spans[1].id);
  EXPECT_EQ(spans[2].name_id, product);
  for (const Span& span : spans) EXPECT_EQ(span.phase, Phase::verify);
}

TEST(SpanRecorder, CarriesTheRequestAndTheRoundThatWereSet) {
  SpanRecorder recorder(Level::phases, nullptr);
  recorder.set_request(7);
  recorder.close(recorder.open_phase(Phase::prefill, 10));
  recorder.set_round(21);
  recorder.close(recorder.open_phase(Phase::draft, 20));
  const std::vector<Span> spans = recorder.take();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].request_id.value(), 7);
  EXPECT_EQ(spans[0].round_id.value(), 0);
  EXPECT_EQ(spans[1].request_id.value(), 7);
  EXPECT_EQ(spans[1].round_id.value(), 21);
}

TEST(SpanRecorder, RecordsNothingFinerThanItsLevel) {
  for (const Level level : {Level::off, Level::phases, Level::layers, Level::ops}) {
    SpanRecorder recorder(level, nullptr);
    const std::int32_t phase = recorder.open_phase(Phase::draft, 1);
    {
      const ScopedSpan layer(&recorder, Level::layers, 1, 0);
      const ScopedSpan op(&recorder, Level::ops, 2, 0);
      EXPECT_EQ(recorder.open(Level::off, 1, 0), -1);
    }
    recorder.close(phase);
    EXPECT_EQ(recorder.take().size(), static_cast<std::size_t>(level));
  }
}

TEST(SpanRecorder, MayBeNull) {
  const ScopedSpan span(nullptr, Level::phases, 1);
  SUCCEED();
}

TEST(SpanRecorder, NamesTheSameTextOnce) {
  SpanRecorder recorder(Level::ops, nullptr);
  const traces::StringId first = recorder.name_id("attention");
  EXPECT_EQ(recorder.name_id("attention"), first);
  EXPECT_NE(recorder.name_id("mlp"), first);
  EXPECT_GT(first.value(), 0);
}

TEST(SpanRecorder, EndsForgottenInnerSpansWithTheOuterOne) {
  SpanRecorder recorder(Level::ops, nullptr);
  const std::int32_t phase = recorder.open_phase(Phase::draft, 100);
  EXPECT_GE(recorder.open(Level::ops, 1, 0), 0);  // its close call is skipped
  const std::int64_t end = now_ns();
  recorder.close_at(phase, end);
  const std::vector<Span> spans = recorder.take();
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0].end_ns, end);
  EXPECT_EQ(spans[1].end_ns, end);
}

TEST(SpanRecorder, KeepsOpenSpansBackUntilTheyAreFinished) {
  SpanRecorder recorder(Level::ops, nullptr);
  recorder.close_at(recorder.open_phase(Phase::draft, 1), 2);
  const std::int32_t phase = recorder.open_phase(Phase::verify, 2);
  const std::int32_t op = recorder.open(Level::ops, 1, 0);
  EXPECT_EQ(recorder.take().size(), 1U);
  recorder.close(op);
  EXPECT_TRUE(recorder.take().empty());
  recorder.close(phase);
  const std::vector<Span> rest = recorder.take();
  ASSERT_EQ(rest.size(), 2U);
  EXPECT_EQ(rest[0].phase, Phase::verify);
  EXPECT_EQ(rest[1].parent_id, rest[0].id);
}

TEST(SpanRecorder, GivesASpanOutsideAnyPhaseADepthThatIsNotAPhases) {
  SpanRecorder recorder(Level::ops, nullptr);
  recorder.close(recorder.open(Level::ops, 1, 0));
  EXPECT_EQ(recorder.take().at(0).depth, 1);
}

TEST(SpanRecorder, AllocatesNothingInTheSteadyState) {
  SpanRecorder recorder(Level::ops, nullptr);
  const traces::StringId name = recorder.name_id("product");
  for (int round = 0; round < 3; ++round) {
    const std::int64_t before = allocation_count_here();
    for (int i = 0; i < 1000; ++i) {
      const std::int32_t phase = recorder.open_phase(Phase::draft, i);
      recorder.close(recorder.open(Level::ops, name, i));
      recorder.close(phase);
    }
    EXPECT_EQ(allocation_count_here(), before) << "round " << round;
    EXPECT_EQ(recorder.take().size(), 2000U);
  }
}

TEST(SpanRecorder, FlushesFinishedSpansToItsWriterWithNamesAndATrack) {
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "spans.dstrace";
  {
    auto writer = traces::Writer::create(path, {});
    ASSERT_TRUE(writer) << writer.error().message;
    SpanRecorder recorder(Level::ops, writer->get());
    const traces::StringId name = recorder.name_id("product");
    for (int round = 0; round < 3; ++round) {
      const std::int32_t phase = recorder.open_phase(Phase::verify, 100 * round);
      recorder.close(recorder.open(Level::ops, name, round));
      recorder.close(phase);
      recorder.flush();
      EXPECT_TRUE(recorder.take().empty());
    }
    ASSERT_TRUE((*writer)->close());
  }
  auto reader = traces::Reader::open(path);
  ASSERT_TRUE(reader) << reader.error().message;
  const auto names = reader->strings();
  ASSERT_TRUE(names);
  std::vector<Span> spans;
  ASSERT_TRUE(reader->spans([&](const Span& span) {
    spans.push_back(span);
    return true;
  }));
  ASSERT_EQ(spans.size(), 6U);
  std::size_t products = 0;
  for (const Span& span : spans) {
    EXPECT_GT(span.track_id.value(), 0);
    EXPECT_EQ(names->at(span.name_id), span.depth == 0 ? "verify" : "product");
    if (span.depth > 0) ++products;
  }
  EXPECT_EQ(products, 3U);
}

// A random decoding thread: phases one after another with gaps, each with random nested spans.
class RandomNesting : public ::testing::TestWithParam<unsigned> {};

void nest(SpanRecorder& recorder, std::mt19937& random, int depth) {
  const auto children = random() % 4;
  for (unsigned child = 0; child < children; ++child) {
    const auto level = static_cast<Level>(1 + random() % 3);
    const std::int32_t token = random() % 8 == 0 ? recorder.open_phase(Phase::optimise, now_ns())
                                                 : recorder.open(level, 1, static_cast<std::int32_t>(child));
    if (depth < 5) nest(recorder, random, depth + 1);
    recorder.close(token);
  }
}

TEST_P(RandomNesting, PhasesAndIdleAddUpToTheWallTimeExactly) {
  std::mt19937 random(GetParam());
  SpanRecorder recorder(static_cast<Level>(1 + GetParam() % 3), nullptr);
  const std::int64_t wall_start = now_ns();
  for (int i = 0; i < 200; ++i) {
    const std::int32_t phase = recorder.open_phase(static_cast<Phase>(random() % 7), now_ns());
    nest(recorder, random, 0);
    recorder.close(phase);
  }
  const std::int64_t wall_end = now_ns();
  const std::vector<Span> spans = recorder.take();
  const std::map<traces::SpanId, Span> known = by_id(spans);

  std::int64_t phases_ns = 0;
  std::int64_t previous_end = wall_start;
  for (const Span& span : spans) {
    EXPECT_LE(span.start_ns, span.end_ns);
    if (span.depth == 0) {
      EXPECT_GE(span.start_ns, previous_end) << "phases overlap";
      previous_end = span.end_ns;
      phases_ns += span.end_ns - span.start_ns;
      EXPECT_EQ(span.parent_id.value(), 0);
    } else {
      const Span& parent = known.at(span.parent_id);
      EXPECT_LT(parent.id, span.id) << "parents come before children";
      EXPECT_EQ(parent.depth + 1, span.depth);
      EXPECT_GE(span.start_ns, parent.start_ns);
      EXPECT_LE(span.end_ns, parent.end_ns);
    }
  }
  EXPECT_TRUE(
      std::is_sorted(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.id < b.id; }));

  const simulator::Breakdown breakdown = simulator::phase_breakdown(spans, wall_start, wall_end);
  const auto idle = breakdown[static_cast<std::size_t>(Phase::idle)];
  EXPECT_EQ(std::accumulate(breakdown.begin(), breakdown.end(), std::int64_t{0}), wall_end - wall_start);
  EXPECT_EQ(phases_ns + idle, wall_end - wall_start);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNesting, ::testing::Range(0U, 12U));

}  // namespace
}  // namespace draftscope::profiler
