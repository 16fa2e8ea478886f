// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "answers/uncertainty/prediction_pathology.h"
#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Distinct tokens, then a period repeated.
std::vector<std::int32_t> looping(std::size_t before, std::size_t period, std::size_t looped) {
  std::vector<std::int32_t> tokens(before);
  std::iota(tokens.begin(), tokens.end(), 1000);
  for (std::size_t i = 0; i < looped; ++i) tokens.push_back(static_cast<std::int32_t>(i % period));
  return tokens;
}

TEST(RepetitionLoop, IsFoundWithItsPeriodFromItsFirstPassOn) {
  for (const std::size_t period : {1UL, 2UL, 7UL, 64UL}) {
    const RepetitionLoop loop = repetition_loop(looping(50, period, 4 * period + 40));
    EXPECT_EQ(loop.tokens, 4 * period + 40);
    EXPECT_EQ(loop.period, period);
  }
}

TEST(RepetitionLoop, IsNotSeenInTextThatRepeatsLittle) {
  EXPECT_EQ(repetition_loop(looping(500, 1, 0)).tokens, 0U);
  EXPECT_EQ(repetition_loop(looping(100, 5, 31)).tokens, 0U) << "too short";
  EXPECT_EQ(repetition_loop(looping(100, 20, 79)).tokens, 0U) << "not four passes";
  EXPECT_EQ(repetition_loop({}).tokens, 0U);
}

TEST(RepetitionLoop, MustBeTheEndOfTheText) {
  std::vector<std::int32_t> tokens = looping(10, 3, 90);
  tokens.push_back(77777);
  EXPECT_EQ(repetition_loop(tokens).tokens, 0U);
}

TEST(Pathology, FlagsLoopsAndRunaways) {
  std::vector<std::vector<std::int32_t>> outputs(120, looping(60, 1, 0));
  EXPECT_FALSE(find_pathology(outputs).is_flagged);
  outputs[4] = looping(40, 6, 400);
  outputs[90] = looping(2000, 1, 0);
  const Pathology pathology = find_pathology(outputs);
  EXPECT_THAT(pathology.loops, ElementsAre(4));
  EXPECT_THAT(pathology.runaways, ElementsAre(90));
  const double all = 118 * 60 + 440 + 2000;
  EXPECT_DOUBLE_EQ(pathology.top_share, (2000 + 440) / all);
  EXPECT_DOUBLE_EQ(pathology.degenerate_share, (2000 + 440) / all);
  EXPECT_TRUE(pathology.is_flagged);
}

TEST(Pathology, ExpectsNothingOfFewOrEmptyRequests) {
  EXPECT_FALSE(find_pathology({}).is_flagged);
  const std::vector<std::vector<std::int32_t>> few{looping(10, 1, 0), looping(30, 1, 0), {}};
  const Pathology pathology = find_pathology(few);
  EXPECT_FALSE(pathology.is_flagged);
  EXPECT_THAT(degenerate_requests(pathology), IsEmpty());
}

TEST(Pathology, IsLeftOutOfTheSecondPrediction) {
  const SyntheticText text = synthetic_text(30, 12);
  SyntheticText extended = text;
  std::vector<ClusterSums> runaway(5000, {synthetic_length + 1.0, 1.0});
  extended.setting.min_drafted.insert(extended.setting.min_drafted.begin() + 7, statistics_of(runaway));
  extended.vanilla.insert(extended.vanilla.begin() + 7,
                          vanilla_steps(extended.setting.min_drafted[7].tokens, synthetic_prompt));
  const SweepTarget target{.name = "this machine", .prices = synthetic_prices()};
  Pathology pathology;
  pathology.runaways = {7};
  const auto both = predict_with_and_without(extended.vanilla, extended.setting, target, pathology);
  const auto healthy = predict_speedup(text.vanilla, text.setting, target);
  ASSERT_TRUE(both && healthy && both->without);
  EXPECT_EQ(both->without->min_drafted.total.value, healthy->min_drafted.total.value);
  EXPECT_EQ(both->without->min_drafted.total.interval_95->low, healthy->min_drafted.total.interval_95->low);
  EXPECT_GT(both->with.min_drafted.total.value, 1.1 * healthy->min_drafted.total.value);
  EXPECT_LT(both->with.min_drafted.request_mean.value, both->with.min_drafted.total.value);
  const auto none = predict_with_and_without(text.vanilla, text.setting, target, {});
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->without.has_value());
}

}  // namespace
}  // namespace draftscope::simulator
