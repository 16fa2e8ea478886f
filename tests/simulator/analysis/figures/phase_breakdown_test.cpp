// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/figures.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

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

TEST(PhaseBreakdown, CountsWhatNoPhaseCoversAsIdle) {
  const Breakdown breakdown = phase_breakdown({}, 5, 25);
  EXPECT_EQ(breakdown[static_cast<std::size_t>(Phase::idle)], 20);
}

TEST(PhaseBreakdown, OfAnEmptyOrReversedIntervalIsZero) {
  const std::vector<Span> spans{phase_span(Phase::draft, 0, 100)};
  EXPECT_THAT(phase_breakdown(spans, 10, 10), ::testing::Each(0));
  EXPECT_THAT(phase_breakdown(spans, 10, 3), ::testing::Each(0));
}

}  // namespace
}  // namespace draftscope::simulator
