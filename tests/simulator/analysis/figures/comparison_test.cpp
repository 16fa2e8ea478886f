// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/comparison.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_recording.h"

namespace draftscope::simulator {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(MetaDifferences, FlagWhatChangesTheExperimentAndLeaveOutTheClocks) {
  const traces::Meta first{{"threads", "2"}, {"clock_start_ns", "1"}, {"prompts_file", "a"}, {"model", "m"}};
  const traces::Meta second{
      {"threads", "4"}, {"clock_start_ns", "9"}, {"prompts_file", "b"}, {"model", "m"}, {"seed", "1"}};
  const auto found = meta_differences(Baseline(first), Comparison(second));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key, "prompts_file");
  EXPECT_FALSE(found[0].changes_experiment);
  EXPECT_EQ(found[1].key, "seed");
  EXPECT_EQ(found[1].baseline, "");
  EXPECT_EQ(found[2].key, "threads");
  EXPECT_EQ(found[2].comparison, "4");
  EXPECT_TRUE(found[2].changes_experiment);
}

TEST(Holm, MultipliesTheSmallestMostAndNeverFallsAlongTheOrder) {
  const std::vector<double> p_values{0.04, 0.01, 0.03, 0.9};
  EXPECT_THAT(holm_adjusted(p_values),
              ElementsAre(DoubleEq(0.09), DoubleEq(0.04), DoubleEq(0.09), DoubleEq(0.9)));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(CompareRuns, FindsARunThatWasSlowedDownAndNoDifferenceElsewhere) {
  RandomOptions options;
  options.prompts = 12;
  const RandomRecording first = random_recording(1, options);
  RandomRecording second = first;
  for (traces::Request& request : second.recording.requests)
    if (request.run_id == 2) request.end_ns += (request.end_ns - request.start_ns) / 4;
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  const auto found = compare_runs(Baseline(first_runs), Comparison(second_runs));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].ratio->value, 1.0);
  EXPECT_EQ(*found[0].adjusted_p_value, 1.0);
  EXPECT_NEAR(found[1].ratio->value, 0.8, 1e-3);
  EXPECT_LT(*found[1].adjusted_p_value, 0.05);
  EXPECT_NEAR(*found[1].adjusted_p_value, 3 * 2.0 / 4096, 1e-12);
  EXPECT_EQ(found[2].identity.differing_prompts, 0U);
}

TEST(CompareRuns, ComparesTheOnlyRunsOfBothWhateverTheyAreCalled) {
  RandomOptions options;
  options.drafting_runs = 0;
  const RandomRecording first = random_recording(1, options);
  RandomRecording second = first;
  second.recording.runs[0].specification = "another";
  const std::vector<RunRows> first_runs = rows_by_run(first.recording);
  const std::vector<RunRows> second_runs = rows_by_run(second.recording);
  EXPECT_EQ(compare_runs(Baseline(first_runs), Comparison(second_runs)).size(), 1U);
}

}  // namespace
}  // namespace draftscope::simulator
