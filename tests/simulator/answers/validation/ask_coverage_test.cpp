// SPDX-License-Identifier: GPL-3.0-or-later
// Tests whether the intervals of whole answers have their nominal coverage. Many recordings are drawn from a
// population whose true speedup is known. For each one costs are fitted and a recorded run is asked about, as
// a user would do.

#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>

#include <random>

#include "../../../temporary_folder.h"
#include "../uncertainty/synthetic_requests.h"
#include "clustered_recording.h"

namespace draftscope::simulator {
namespace {

constexpr const char* strategy = "layerskip:exit=3,gamma=4";

Result<PredictedRatio> ask(traces::Reader& reader, const traces::Recording& recording, std::uint64_t seed) {
  DRAFTSCOPE_TRY_ASSIGN(const WhatIf what_if, WhatIf::train(reader, recording));
  DRAFTSCOPE_TRY_ASSIGN(const StrategyRounds rounds, what_if.rounds(strategy));
  DRAFTSCOPE_TRY_ASSIGN(const Answer answer,
                        ask(what_if.costs().model, rounds, {"as recorded", what_if.recorded_scenario()},
                            {.draws = 400, .seed = seed, .threads = 1}));
  return answer.speedup;
}

/// Speedup of far more requests than a recording has, at the prices of the recordings.
double true_speedup() {
  constexpr int population = 50'000;
  std::mt19937_64 random(2);
  const Prices prices = synthetic_prices();
  double vanilla_ns = 0.0;
  double speculative_ns = 0.0;
  for (int i = 0; i < population; ++i) {
    const RoundStatistics request = statistics_of(synthetic_rounds(random));
    vanilla_ns += vanilla_time_ns(request.tokens, synthetic_prompt, prices);
    speculative_ns += time_ns(request, prices);
  }
  return vanilla_ns / speculative_ns;
}

TEST(AnswerCoverage, IsAsPromisedFromRecordingToInterval) {
  const test::TemporaryFolder folder;
  write_recording(clustered_recording(1), folder / "trace.dstrace");
  traces::Reader reader = traces::Reader::open(folder / "trace.dstrace").value();
  const double truth = true_speedup();
  constexpr int trials = 400;
  int of_80 = 0;
  int of_95 = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial) + 1;
    // The file has neither shadow tokens nor spans, and the reader is only asked for these.
    const auto answer = ask(reader, clustered_recording(seed), seed);
    ASSERT_TRUE(answer) << answer.error().message;
    const RatioEstimate& total = answer->min_drafted;
    const auto holds = [&](const Interval& interval) {
      return interval.low <= truth && truth <= interval.high ? 1 : 0;
    };
    of_80 += holds(*total.interval_80);
    of_95 += holds(*total.interval_95);
  }
  const double share_80 = static_cast<double>(of_80) / trials;
  const double share_95 = static_cast<double>(of_95) / trials;
  RecordProperty("share_80", fmt::format("{:.3f}", share_80));
  RecordProperty("share_95", fmt::format("{:.3f}", share_95));
  EXPECT_GE(share_95, 0.93);
  EXPECT_LE(share_95, 0.97);
  EXPECT_GE(share_80, 0.76);
  EXPECT_LE(share_80, 0.84);
}

TEST(AnswerCoverage, RestsOnAnswersThatAWrittenRecordingGivesToo) {
  const test::TemporaryFolder folder;
  const traces::Recording made = clustered_recording(3);
  write_recording(made, folder / "trace.dstrace");
  traces::Reader reader = traces::Reader::open(folder / "trace.dstrace").value();
  const traces::Recording read = reader.recording().value();
  const PredictedRatio from_memory = ask(reader, made, 5).value();
  const PredictedRatio from_file = ask(reader, read, 5).value();
  EXPECT_EQ(from_memory.min_drafted.value, from_file.min_drafted.value);
  EXPECT_EQ(from_memory.min_drafted.interval_95->low, from_file.min_drafted.interval_95->low);
  EXPECT_EQ(from_memory.min_drafted.interval_95->high, from_file.min_drafted.interval_95->high);
}

}  // namespace
}  // namespace draftscope::simulator
