// SPDX-License-Identifier: GPL-3.0-or-later
// Compares breakdowns of streamed spans with those of measure() on all spans.
#include <draftscope/simulator/analysis/measured_recording.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

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
