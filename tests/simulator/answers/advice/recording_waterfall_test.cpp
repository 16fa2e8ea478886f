// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/recording_waterfall.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "learnt.h"

namespace draftscope::simulator {
namespace {

WaterfallOptions quick_waterfall() {
  return {.longest = 6, .bins = 3, .thresholds = {0.3, 0.6, 0.9}, .resamples = 200};
}

std::vector<StrategyRounds> rounds_of(const Learnt& learnt, const std::vector<std::string>& strategies) {
  std::vector<StrategyRounds> all;
  for (const std::string& strategy : strategies) all.push_back(learnt.what_if().rounds(strategy).value());
  return all;
}

TEST(RecordingWaterfall, PutsNoEarlyExitAboveTheOracle) {
  const Learnt learnt({.skill = 0.9});
  const auto strategies =
      rounds_of(learnt, {"layerskip:exit=3,gamma=4", "layerskip:exit=2,gamma=9,verify=all-layers",
                         "fs:exit=4,verify=all-layers", "vanilla"});
  const auto found = recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), strategies,
                                         0, quick_waterfall());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->strategies.size(), strategies.size());
  const double oracle = step_at(found->waterfall, WaterfallLevel::oracle).speedup.value;
  for (const StrategyShare& share : found->strategies) {
    EXPECT_TRUE(share.is_bounded) << share.strategy;
    EXPECT_LE(share.of_oracle.value, 1.0 + 1e-9) << share.strategy;
    EXPECT_NEAR(share.of_oracle.value, share.speedup / oracle, 1e-9) << share.strategy;
    EXPECT_NEAR(share.efficiency.value(), (share.speedup - 1.0) / (oracle - 1.0), 1e-9);
  }
}

TEST(RecordingWaterfall, AgreesWithTheAnswerOnItsPolicy) {
  const Learnt learnt({});
  const auto strategies = rounds_of(learnt, {"layerskip:exit=3,gamma=4"});
  const auto found = recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), strategies,
                                         0, quick_waterfall());
  ASSERT_TRUE(found) << found.error().message;
  // Levels are at the cost model's means; a recorded run's ratio is an additional factor.
  const double expected = speedup(learnt, strategies[0], learnt.machine()) * strategies[0].own_ratio;
  EXPECT_NEAR(step_at(found->waterfall, WaterfallLevel::policy).speedup.value, expected, 1e-9);
  EXPECT_NEAR(found->strategies[0].speedup, expected, 1e-9);
  const auto gaps = named_gaps(found->waterfall.gaps);
  EXPECT_EQ(gaps.size(), 4U);
}

TEST(RecordingWaterfall, NamesTheBestSettingOfEachCategory) {
  const Learnt learnt({.skill = 0.9});
  const auto found =
      recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), {}, 0, quick_waterfall());
  ASSERT_TRUE(found) << found.error().message;
  const Waterfall& waterfall = found->waterfall;
  const auto notes = waterfall_notes(*found, 1);
  const auto best = std::find_if(notes.begin(), notes.end(),
                                 [](const std::string& note) { return note.starts_with("best settings: "); });
  ASSERT_NE(best, notes.end());
  ASSERT_EQ(waterfall.best.by_category.size(), 2U);
  for (const auto& [category, setting] : waterfall.best.by_category)
    EXPECT_THAT(*best, testing::HasSubstr(category + " " + fixed_setting_text(waterfall.settings[setting])));
}

// Runs recorded in another order than the shadow tokens are still matched with their prompts.
TEST(RecordingWaterfall, MatchesRecordedRunsByPrompt) {
  const Learnt learnt({});
  const auto recorded = rounds_of(learnt, {"layerskip:exit=5,gamma=9"});
  const auto replayed = rounds_of(learnt, {"layerskip:exit=5,gamma=9,verify=all-layers"});
  ASSERT_EQ(recorded[0].source, RoundSource::recorded);
  ASSERT_EQ(replayed[0].source, RoundSource::replayed);
  const auto a = recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), recorded, 0,
                                     quick_waterfall());
  const auto b = recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), replayed, 0,
                                     quick_waterfall());
  ASSERT_TRUE(a && b);
  const auto times = [](const RecordingWaterfall& found) {
    return step_at(found.waterfall, WaterfallLevel::policy).times_ns;
  };
  ASSERT_EQ(times(*a).size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_NEAR(times(*a)[i], times(*b)[i], 1e-6) << i;
}

TEST(RecordingWaterfall, SaysThatAnotherModelsAcceptanceIsNotKnown) {
  const Learnt learnt({});
  const Machine machine = on_gpu(learnt, "H200-SXM5-141GB", "Llama-3-8B");
  const auto found =
      recording_waterfall(learnt.what_if(), learnt.recording(), machine, {}, 0, quick_waterfall());
  ASSERT_TRUE(found) << found.error().message;
  for (const WaterfallStep& step : found->waterfall.steps)
    EXPECT_EQ(step.status, AnswerStatus::approximate) << waterfall_level_name(step.level);
  EXPECT_FALSE(found->notes.empty());
}

TEST(RecordingWaterfall, GrowsWithTheContextAsThePricesDo) {
  const Learnt learnt({});
  const auto near =
      recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), {}, 0, quick_waterfall());
  const auto far = recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), {}, 4096,
                                       quick_waterfall());
  ASSERT_TRUE(near && far);
  EXPECT_NEAR(far->mean_context, near->mean_context + 4096.0, 1e-9);
  EXPECT_LT(far->waterfall.price, near->waterfall.price);
}

TEST(RecordingWaterfall, WantsShadowTokens) {
  const Learnt learnt({.with_shadow = false});
  const auto found = recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, testing::HasSubstr("--shadow"));
}

TEST(RecordingWaterfall, TellsHowFarItIs) {
  const Learnt learnt({});
  WaterfallOptions options = quick_waterfall();
  std::vector<std::int64_t> reports;
  std::int64_t expected = 0;
  options.progress = [&](std::int64_t done, std::int64_t all) {
    EXPECT_TRUE(expected == 0 || expected == all);
    expected = all;
    reports.push_back(done);
    return true;
  };
  ASSERT_TRUE(recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), {}, 0, options));
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  EXPECT_GE(reports.front(), 1);
  EXPECT_LE(reports.back(), expected);
  EXPECT_GT(reports.back(), 3 * expected / 4) << "rules that draft nowhere are not refitted";
}

TEST(RecordingWaterfall, StopsWhereverItIsToldTo) {
  const Learnt learnt({});
  WaterfallOptions options = quick_waterfall();
  std::int64_t calls = 0;
  std::int64_t last = 0;
  options.progress = [&](std::int64_t, std::int64_t) { return ++calls != last; };
  const auto found = [&] {
    calls = 0;
    return recording_waterfall(learnt.what_if(), learnt.recording(), learnt.machine(), {}, 0, options);
  };
  ASSERT_TRUE(found());
  const std::int64_t all = calls;
  for (const std::int64_t share : {0, 1, 4, 7, 9}) {
    last = 1 + share * all / 10;
    const auto stopped = found();
    ASSERT_FALSE(stopped) << last;
    EXPECT_THAT(stopped.error().message, testing::HasSubstr("stopped"));
    EXPECT_EQ(calls, last) << "nothing is done after it";
  }
}

}  // namespace
}  // namespace draftscope::simulator
