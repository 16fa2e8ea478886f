// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/explain.h>
#include <gtest/gtest.h>

#include <memory>

#include "../figures/random_recording.h"
#include "made_recording.h"

namespace draftscope::simulator {
namespace {

TEST(RoundAccount, SaysWhatARoundTakesAndYields) {
  const MeasuredRecording measured = made_recording({.round = [](int) {
    return MadeRound{.drafted = 8, .accepted = 2, .draft_us = 1200, .verify_us = 2200, .decide_us = 100};
  }});
  const std::vector<Diagnosis> found = explain(measured);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found.front().summary,
      "A round takes 3.50 vanilla steps (draft 1.20, verification 2.20, deciding 0.10) and "
      "yields 3.00 tokens: 0.86x. Verification is 63 % of it, for 9.00 rows; of the 8.00 draft tokens per "
      "round 25 % are kept. If a verification took one vanilla step, whatever its rows, the speedup would be "
      "1.30x.");
  EXPECT_EQ(found.front().round.unit, RoundUnit::vanilla_step);
  EXPECT_NEAR(found.front().round.unit_ns, 1e6, 1.0);
}

TEST(RoundAccount, AddsUpToTheMeasuredDecodeSpeedup) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RandomRecording random = random_recording(seed, {.equal_outputs = seed % 2 == 0});
    MeasuredRecording measured;
    measured.recording = std::make_unique<traces::Recording>(std::move(random.recording));
    measured.figures = measure(*measured.recording, random.phase_spans);
    const std::vector<Diagnosis> found = explain(measured);
    ASSERT_EQ(found.size() + 1, measured.figures.runs.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      const RoundAccount& round = found[i].round;
      EXPECT_DOUBLE_EQ(*round.speedup, *measured.figures.runs[i + 1].all.speedup->decode_value);
      EXPECT_NEAR(*round.yields / *round.takes, *round.speedup, 1e-12);
      ASSERT_TRUE(round.parts);
      const RoundParts& parts = *round.parts;
      EXPECT_GE(parts.outside, 0.0);
      EXPECT_NEAR(parts.draft + parts.verify + parts.decide + parts.accept + parts.outside, *round.takes,
                  1e-9);
    }
  }
}

}  // namespace
}  // namespace draftscope::simulator
