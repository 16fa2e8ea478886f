// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <draftscope/simulator/analysis/figures.h>
#include <gtest/gtest.h>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

const Figures* figures_of(const RunFigures& run, const std::string& category) {
  if (category.empty()) return &run.all;
  for (const Figures& figures : run.by_category)
    if (figures.category == category) return &figures;
  return nullptr;
}

TEST(Winners, AreTheLargestSpeedupsOfTheReport) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RandomRecording random = random_recording(seed, {.prompts = 8, .drafting_runs = 4});
    const RecordingFigures measured = measure(random.recording);
    const std::vector<Winner> found = winners(random.recording);
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().category, "");
    for (const Winner& winner : found) {
      double best = 1.0;
      const traces::Run* fastest = measured.baseline;
      for (const RunFigures& run : measured.runs) {
        const Figures* figures = figures_of(run, winner.category);
        if (figures == nullptr || !figures->speedup || figures->speedup->value <= best) continue;
        best = figures->speedup->value;
        fastest = run.all.run;
      }
      EXPECT_EQ(winner.run, fastest) << "seed " << seed << ' ' << winner.category;
      EXPECT_NE(winner.runner_up, fastest);
      ASSERT_TRUE(winner.lead);
      EXPECT_GE(winner.lead->value, 1.0);
    }
  }
}

TEST(Winners, NeedABaselineAndAnotherRun) {
  EXPECT_TRUE(winners(random_recording(1, {.drafting_runs = 0}).recording).empty());
  RandomRecording random = random_recording(1);
  for (traces::Run& run : random.recording.runs) run.is_baseline = false;
  EXPECT_TRUE(winners(random.recording).empty());
}

}  // namespace
}  // namespace draftscope::simulator
