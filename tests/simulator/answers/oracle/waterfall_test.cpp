// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/waterfall.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "answers/oracle/oracle.h"
#include "answers/oracle/text_rounds.h"
#include "random_text.h"

namespace draftscope::simulator {
namespace {

using Level = WaterfallLevel;

struct Case {
  std::vector<ShadowTable> tables;
  std::vector<WaterfallRequest> requests;
  WaterfallPolicy policy;
};

/// A case with a policy under test that changes its setting at random between requests.
Case random_case(std::mt19937& random, std::size_t requests, std::int32_t positions = 60) {
  Case result;
  for (std::size_t i = 0; i < requests; ++i)
    result.tables.push_back(random_text(random, {.positions = positions, .ended_at_eos = i % 3 == 0}));
  for (std::size_t i = 0; i < requests; ++i) {
    result.requests.push_back({.table = &result.tables[i],
                               .category = i % 2 == 0 ? "even" : "odd",
                               .prompt_id = traces::PromptId::from(i)});
    const FixedSetting setting{1 + static_cast<std::int32_t>(random() % 3),
                               static_cast<std::int32_t>(random() % 5)};
    result.policy.requests.push_back(fixed_setting(result.tables[i], setting));
  }
  return result;
}

const WaterfallStep& at(const Waterfall& waterfall, Level level) {
  return *std::find_if(waterfall.steps.begin(), waterfall.steps.end(),
                       [&](const WaterfallStep& step) { return step.level == level; });
}

double total(const WaterfallStep& step) {
  return std::accumulate(step.times_ns.begin(), step.times_ns.end(), 0.0);
}

TEST(Waterfall, NeverPutsALevelBelowTheOracleAboveItOnAnyResample) {
  std::mt19937 random(51);
  for (int trial = 0; trial < 8; ++trial) {
    const Case given = random_case(random, 9);
    const Prices prices = random_prices(random, {.longest = 5});
    const auto found =
        waterfall(given.requests, prices, &given.policy, {.longest = 5, .bins = 3, .resamples = 200});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->steps.size(), 12U);
    const WaterfallStep& oracle = at(*found, Level::oracle);
    for (int resample = 0; resample < 200; ++resample) {
      std::vector<std::size_t> drawn(given.requests.size());
      for (std::size_t& request : drawn) request = random() % drawn.size();
      const auto time = [&](const WaterfallStep& step) {
        double sum = 0.0;
        for (const std::size_t request : drawn) sum += step.times_ns[request];
        return sum;
      };
      for (const WaterfallStep& step : found->steps) {
        const bool is_above = step.level == Level::free_drafts || step.level == Level::perfect_drafts;
        const auto& [faster, slower] = is_above ? std::tie(step, oracle) : std::tie(oracle, step);
        EXPECT_LE(time(faster), time(slower) + 1e-6) << waterfall_level_name(step.level);
      }
      EXPECT_LE(time(at(*found, Level::oracle_length)), time(at(*found, Level::policy)) + 1e-6);
    }
  }
}

TEST(Waterfall, RisesFromVanillaThroughTheFixedSettings) {
  std::mt19937 random(52);
  const Case given = random_case(random, 8);
  const Prices prices = random_prices(random, {.longest = 5});
  const auto found = waterfall(given.requests, prices, nullptr, {.longest = 5, .resamples = 100});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->steps.size(), 11U);
  EXPECT_EQ(found->steps.front().level, Level::vanilla);
  EXPECT_TRUE(std::is_sorted(found->steps.begin(), found->steps.end(),
                             [](const auto& a, const auto& b) { return a.level < b.level; }));
  EXPECT_GE(total(at(*found, Level::vanilla)), total(at(*found, Level::best_global)));
  EXPECT_GE(total(at(*found, Level::best_global)), total(at(*found, Level::best_by_category)));
  EXPECT_GE(total(at(*found, Level::best_by_category)), total(at(*found, Level::best_by_request)));
  EXPECT_FALSE(found->gaps.learning);
}

TEST(Waterfall, GivesFiguresThatFollowFromTheTimes) {
  std::mt19937 random(53);
  const Case given = random_case(random, 8);
  Prices prices = random_prices(random, {.longest = 5});
  for (DraftPrices& draft : prices.drafts) draft.step.ns *= 0.3;
  const auto found =
      waterfall(given.requests, prices, &given.policy, {.longest = 5, .bins = 3, .resamples = 300});
  ASSERT_TRUE(found);
  const double vanilla = total(at(*found, Level::vanilla));
  const double oracle = total(at(*found, Level::oracle));
  for (const WaterfallStep& step : found->steps) {
    const double speedup = vanilla / total(step);
    EXPECT_NEAR(step.speedup.value, speedup, 1e-9);
    EXPECT_NEAR(step.of_oracle.value, oracle / total(step), 1e-9);
    ASSERT_TRUE(step.efficiency);
    EXPECT_NEAR(step.efficiency->value, (speedup - 1.0) / (vanilla / oracle - 1.0), 1e-9);
    ASSERT_TRUE(step.speedup.interval);
    EXPECT_LE(step.speedup.interval->low, step.speedup.interval->high);
    EXPECT_EQ(step.bounds.has_value(), step.status == AnswerStatus::bounded);
    if (step.bounds) {
      EXPECT_LE(step.bounds->low, speedup + 1e-9);
      EXPECT_GE(step.bounds->high, speedup - 1e-9);
    }
  }
  const auto speedup = [&](Level level) { return at(*found, level).speedup.value; };
  EXPECT_EQ(speedup(Level::vanilla), 1.0);
  EXPECT_EQ(at(*found, Level::oracle).status, AnswerStatus::exact);
  EXPECT_EQ(at(*found, Level::perfect_drafts).status, AnswerStatus::approximate);
  EXPECT_EQ(at(*found, Level::oracle).of_oracle.value, 1.0);
  EXPECT_NEAR(found->gaps.tuning.value, speedup(Level::best_by_request) - speedup(Level::best_global), 1e-9);
  EXPECT_NEAR(found->gaps.information.value, speedup(Level::oracle) - speedup(Level::causal_rule), 1e-9);
  EXPECT_NEAR(found->gaps.hardware.value, speedup(Level::free_drafts) - speedup(Level::oracle), 1e-9);
  ASSERT_TRUE(found->gaps.learning);
  EXPECT_NEAR(found->gaps.learning->value, speedup(Level::causal_rule) - speedup(Level::policy), 1e-9);
  EXPECT_GT(found->price, 0.0);
}

TEST(Waterfall, JudgesRulesOnPromptsThatTheyWereNotFittedOn) {
  std::mt19937 random(54);
  Case given = random_case(random, 6);
  given.requests[5].prompt_id = given.requests[4].prompt_id;
  const Prices prices = random_prices(random, {.longest = 4});
  const auto time_of_fifth = [&](Level level) {
    const auto found = waterfall(given.requests, prices, nullptr, {.longest = 4, .bins = 2, .resamples = 0});
    EXPECT_TRUE(found);
    EXPECT_EQ(found->folds, 5);
    return at(*found, level).times_ns[4];
  };
  const double single = time_of_fifth(Level::single_threshold);
  const double rule = time_of_fifth(Level::causal_rule);
  // The other request of its prompt now contradicts all others; no rule for the fifth may be fitted to it.
  for (ShadowCell& cell : given.tables[5].cells) cell.probability = 1.0F - cell.probability;
  EXPECT_EQ(time_of_fifth(Level::single_threshold), single);
  EXPECT_EQ(time_of_fifth(Level::causal_rule), rule);
}

TEST(Waterfall, GivesNoIntervalForFewPrompts) {
  std::mt19937 random(55);
  const Case given = random_case(random, 1);
  const auto found = waterfall(given.requests, random_prices(random, {}), nullptr, {.longest = 4});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->folds, 1);
  for (const WaterfallStep& step : found->steps) EXPECT_FALSE(step.speedup.interval);
}

TEST(Waterfall, IsTheSameWithRequestsOfOneToken) {
  std::mt19937 random(58);
  Case given = random_case(random, 6);
  const Prices prices = random_prices(random, {.longest = 4});
  const WaterfallOptions options{.longest = 4, .bins = 2, .resamples = 100};
  const auto expected = waterfall(given.requests, prices, nullptr, options);
  const ShadowTable one_token = random_text(random, {.positions = 0});
  for (std::size_t i = 0; i < 30; ++i)
    given.requests.push_back({.table = &one_token, .prompt_id = traces::PromptId::from(100 + i)});
  const auto found = waterfall(given.requests, prices, nullptr, options);
  ASSERT_TRUE(expected && found);
  for (std::size_t i = 0; i < found->steps.size(); ++i) {
    const WaterfallFigure& speedup = found->steps[i].speedup;
    EXPECT_EQ(speedup.value, expected->steps[i].speedup.value);
    EXPECT_EQ(speedup.interval.value().low, expected->steps[i].speedup.interval.value().low);
    EXPECT_EQ(speedup.interval.value().high, expected->steps[i].speedup.interval.value().high);
  }
  // No rule can be judged on the only text, since none can be learnt from the others.
  given.requests.erase(given.requests.begin() + 1, given.requests.begin() + 6);
  const auto alone = waterfall(given.requests, prices, nullptr, options);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_DOUBLE_EQ(at(*alone, Level::causal_rule).speedup.value, 1.0);
}

TEST(Waterfall, CoversWhatThePolicyDid) {
  std::mt19937 random(56);
  Case given = random_case(random, 6);
  const Prices prices = free_drafts(random_prices(random, {.longest = 8}));
  for (std::size_t i = 0; i < given.tables.size(); ++i)
    given.policy.requests[i] = fixed_setting(given.tables[i], {3, 8});
  const auto found = waterfall(given.requests, prices, &given.policy,
                               {.exits = {1}, .longest = 1, .bins = 2, .resamples = 10});
  ASSERT_TRUE(found);
  EXPECT_LE(total(at(*found, Level::oracle)), total(at(*found, Level::policy)) + 1e-6);
}

TEST(Waterfall, NamesWhatDoesNotFit) {
  std::mt19937 random(57);
  Case given = random_case(random, 3);
  const Prices prices = random_prices(random, {});
  EXPECT_EQ(waterfall({}, prices).error().message, "waterfall: found no request, expected a finished one");
  given.policy.requests.pop_back();
  EXPECT_EQ(waterfall(given.requests, prices, &given.policy).error().message,
            "waterfall: the policy has 2 requests, expected 3");
  Prices none = prices;
  none.drafts.clear();
  EXPECT_EQ(waterfall(given.requests, none).error().message,
            "waterfall: found no exit and length with prices, expected one");
  Case empty = random_case(random, 2, 0);
  for (ShadowTable& table : empty.tables) table.ended_at_eos = false;
  EXPECT_EQ(waterfall(empty.requests, prices).error().message,
            "waterfall: found no token after the first in any request, expected one");
  for (std::size_t level = 0; level <= 11; ++level)
    EXPECT_FALSE(waterfall_level_name(static_cast<Level>(level)).empty());
}

}  // namespace
}  // namespace draftscope::simulator
