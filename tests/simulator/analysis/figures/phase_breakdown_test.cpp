// SPDX-License-Identifier: GPL-3.0-or-later
// Compares breakdowns of streamed spans with those of measure() on all spans.
#include <draftscope/simulator/analysis/figures.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <numeric>
#include <random>

#include "random_recording.h"

namespace draftscope::simulator {

namespace {

using traces::Phase;
using traces::Span;

Span phase_span(Phase phase, std::int64_t start_ns, std::int64_t end_ns, std::uint8_t depth = 0) {
  Span span;
  span.phase = phase;
  span.start_ns = start_ns;
  span.end_ns = end_ns;
  span.depth = depth;
  return span;
}

/// Finds the owner of every single nanosecond.
Breakdown count_nanoseconds(const std::vector<Span>& spans, std::int64_t start_ns, std::int64_t end_ns) {
  Breakdown breakdown{};
  for (std::int64_t now = start_ns; now < end_ns; ++now) {
    auto owner = static_cast<std::size_t>(Phase::idle);
    for (const Span& span : spans)
      if (span.depth == 0 && span.start_ns <= now && now < span.end_ns)
        owner = std::min(owner, static_cast<std::size_t>(span.phase));
    ++breakdown[owner];
  }
  return breakdown;
}

TEST(PhaseBreakdown, AgreesWithCountingNanosecondsOnAnySpans) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Span> spans;
    for (unsigned i = random() % 12; i > 0; --i) {
      const std::int64_t start = random() % 120;
      spans.push_back(phase_span(static_cast<Phase>(random() % 8), start, start + random() % 40,
                                 static_cast<std::uint8_t>(random() % 4 == 0)));
    }
    const Breakdown expected = count_nanoseconds(spans, 20, 110);
    const Breakdown found = phase_breakdown(spans, 20, 110);
    EXPECT_EQ(found, expected) << "trial " << trial;
    EXPECT_EQ(std::accumulate(found.begin(), found.end(), std::int64_t{0}), 90);
  }
}

TEST(PhaseBreakdown, OfAnEmptyOrReversedIntervalIsZero) {
  const std::vector<Span> spans{phase_span(Phase::draft, 0, 100)};
  EXPECT_THAT(phase_breakdown(spans, 10, 10), ::testing::Each(0));
  EXPECT_THAT(phase_breakdown(spans, 10, 3), ::testing::Each(0));
}

void expect_same_breakdowns(const RecordingFigures& found, const RecordingFigures& expected) {
  const auto expect_same = [](const RunBreakdown& a, const RunBreakdown& b) {
    EXPECT_EQ(a.source, b.source);
    EXPECT_EQ(a.by_phase, b.by_phase);
  };
  ASSERT_EQ(found.runs.size(), expected.runs.size());
  for (std::size_t run = 0; run < found.runs.size(); ++run) {
    expect_same(found.runs[run].all.breakdown, expected.runs[run].all.breakdown);
    ASSERT_EQ(found.runs[run].by_category.size(), expected.runs[run].by_category.size());
    for (std::size_t i = 0; i < found.runs[run].by_category.size(); ++i)
      expect_same(found.runs[run].by_category[i].breakdown, expected.runs[run].by_category[i].breakdown);
  }
}

class StreamedSpans : public testing::TestWithParam<unsigned> {};

TEST_P(StreamedSpans, GiveTheBreakdownThatKeptOnesGive) {
  const RandomRecording sample = random_recording(GetParam(), {.with_spans = GetParam() % 3 != 0});
  std::vector<traces::Span> spans = sample.phase_spans;
  std::mt19937 random(GetParam());
  if (GetParam() % 2 == 0) {
    // These spans come from other threads: they overlap existing ones, and extend beyond the request.
    for (const traces::Request& request : sample.recording.requests)
      for (int i = 0; i < 5; ++i) {
        traces::Span span;
        span.request_id = request.id;
        span.start_ns = request.start_ns - 50 + static_cast<std::int64_t>(random() % 2000);
        span.end_ns = span.start_ns + static_cast<std::int64_t>(random() % 3000);
        span.phase = static_cast<traces::Phase>(random() % traces::phase_count);
        span.depth = static_cast<std::uint8_t>(random() % 2);
        spans.push_back(span);
      }
    std::shuffle(spans.begin(), spans.end(), random);
  }
  StreamedPhases first;
  StreamedPhases second;
  for (std::size_t i = 0; i < spans.size(); ++i) (i % 3 == 0 ? second : first).add(spans[i]);
  first.add(std::move(second));
  RecordingFigures figures = measure(sample.recording);
  first.complete(sample.recording, figures);
  expect_same_breakdowns(figures, measure(sample.recording, spans));
}

INSTANTIATE_TEST_SUITE_P(Seeds, StreamedSpans, testing::Range(0U, 8U));

}  // namespace

}  // namespace draftscope::simulator
