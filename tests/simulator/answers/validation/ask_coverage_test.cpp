// SPDX-License-Identifier: GPL-3.0-or-later
// Tests whether the intervals of whole answers have their nominal coverage. Many recordings are drawn from a
// population whose true speedup is known. For each one costs are fitted and a recorded run is asked about, as
// a user would do.

#include <draftscope/simulator/answers/what_if.h>
#include <gtest/gtest.h>

#include <cstdint>

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

TEST(AnswerCoverage, IsAsPromisedFromRecordingToInterval) {
  const test::TemporaryFolder folder;
  write_recording(clustered_recording(1), folder / "trace.dstrace");
  traces::Reader reader = traces::Reader::open(folder / "trace.dstrace").value();
  const double truth = synthetic_speedup();
  Coverage coverage;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    // The file has neither shadow tokens nor spans, and the reader is only asked for these.
    const auto answer = ask(reader, clustered_recording(seed), seed);
    ASSERT_TRUE(answer) << answer.error().message;
    coverage.count(answer->min_drafted, truth);
  }
  EXPECT_TRUE(coverage.is_as_promised(0.04)) << coverage.shares();
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
