// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/sweep.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

/// Settings that use the passes of one text at different exits.
struct Settings {
  std::vector<PassCount> vanilla;
  std::vector<SweepSetting> settings;
};

Settings some_settings(std::size_t requests) {
  const SyntheticText text = synthetic_text(requests, 6);
  Settings all{.vanilla = text.vanilla};
  for (std::int32_t exit = 1; exit < synthetic_layers; ++exit) {
    all.settings.push_back(text.setting);
    for (RoundStatistics& request : all.settings.back().min_drafted) request.drafts[0].exit = exit;
  }
  return all;
}

std::vector<SweepTarget> some_targets(double scale = 1.0) {
  std::vector<SweepTarget> targets;
  targets.push_back({.name = "certain", .prices = synthetic_prices(scale)});
  for (std::uint64_t i = 0; i < 4; ++i) {
    targets.push_back({.name = "drawn " + std::to_string(i), .prices = synthetic_prices(scale)});
    const PriceSpread spread{.fit = 0.03, .width = 0.2, .transfer = 0.2, .common = 0.3};
    targets.back().draws = spread_prices(targets.back().prices, spread, i);
  }
  return targets;
}

std::string error_of(const Result<SweepTable>& table) {
  return table ? std::string("no error") : table.error().message;
}

TEST(Sweep, AgreesWithTheTimesOfSummedStatistics) {
  const Settings all = some_settings(25);
  const std::vector<SweepTarget> targets = some_targets();
  const auto table = sweep(all.vanilla, all.settings, targets);
  ASSERT_TRUE(table) << table.error().message;
  for (std::size_t setting = 0; setting < all.settings.size(); ++setting) {
    RoundStatistics sum;
    double vanilla_ns = 0.0;
    double ratios = 0.0;
    const Prices& prices = targets[2].prices;
    for (const RoundStatistics& request : all.settings[setting].min_drafted) {
      add(sum, request);
      const double own_ns = vanilla_time_ns(request.tokens, synthetic_prompt, prices);
      vanilla_ns += own_ns;
      ratios += own_ns / time_ns(request, prices);
    }
    const SweepAnswer& answer = table->at(setting, 2);
    EXPECT_NEAR(answer.speedup, vanilla_ns / time_ns(sum, prices), 1e-12);
    EXPECT_NEAR(answer.request_mean, ratios / 25.0, 1e-12);
    EXPECT_EQ(answer.min_speedup, answer.speedup);
    EXPECT_LT(answer.interval_95->low, answer.interval_80->low);
    EXPECT_LT(answer.interval_80->low, answer.speedup);
    EXPECT_LT(answer.speedup, answer.interval_80->high);
    EXPECT_LT(answer.interval_80->high, answer.interval_95->high);
  }
}

TEST(Sweep, GivesTheSameBitsForAnyNumberOfThreads) {
  const Settings all = some_settings(25);
  const std::vector<SweepTarget> targets = some_targets();
  for (const std::size_t used : {std::size_t{1}, targets.size()}) {
    const std::span<const SweepTarget> some(targets.data() + targets.size() - used, used);
    const auto one = sweep(all.vanilla, all.settings, some, {.threads = 1});
    ASSERT_TRUE(one);
    for (std::int32_t threads = 2; threads <= 4; ++threads) {
      const auto more = sweep(all.vanilla, all.settings, some, {.threads = threads});
      ASSERT_TRUE(more);
      for (std::size_t i = 0; i < one->answers.size(); ++i) {
        EXPECT_EQ(one->answers[i].speedup, more->answers[i].speedup);
        EXPECT_EQ(one->answers[i].interval_95->low, more->answers[i].interval_95->low);
        EXPECT_EQ(one->answers[i].interval_80->high, more->answers[i].interval_80->high);
      }
    }
  }
}

TEST(Sweep, DoesNotDependOnWhatElseIsAsked) {
  const Settings all = some_settings(25);
  const std::vector<SweepTarget> targets = some_targets();
  const auto table = sweep(all.vanilla, all.settings, targets);
  const auto alone = sweep(all.vanilla, {&all.settings[4], 1}, {&targets[3], 1});
  ASSERT_TRUE(table && alone);
  EXPECT_NEAR(alone->at(0, 0).interval_95->low, table->at(4, 3).interval_95->low, 1e-12);
  EXPECT_NEAR(alone->at(0, 0).speedup, table->at(4, 3).speedup, 1e-12);
}

TEST(Sweep, DoesNotSeeTheUnitOfPrices) {
  const Settings all = some_settings(25);
  const auto one = sweep(all.vanilla, all.settings, some_targets());
  const auto scaled = sweep(all.vanilla, all.settings, some_targets(3.7));
  ASSERT_TRUE(one && scaled);
  for (std::size_t i = 0; i < one->answers.size(); ++i) {
    EXPECT_NEAR(one->answers[i].speedup, scaled->answers[i].speedup, 1e-12);
    EXPECT_NEAR(one->answers[i].interval_95->low, scaled->answers[i].interval_95->low, 1e-12);
    EXPECT_NEAR(one->answers[i].interval_95->high, scaled->answers[i].interval_95->high, 1e-12);
  }
}

TEST(Sweep, CancelsNoiseThatIsCommonToBothRuns) {
  const Settings all = some_settings(25);
  std::vector<SweepTarget> targets(2, {.name = "certain", .prices = synthetic_prices()});
  targets[1].draws = spread_prices(synthetic_prices(), {.common = 0.5}, 8);
  const auto table = sweep(all.vanilla, all.settings, targets);
  ASSERT_TRUE(table);
  for (std::size_t setting = 0; setting < all.settings.size(); ++setting) {
    const SweepAnswer& certain = table->at(setting, 0);
    const SweepAnswer& drawn = table->at(setting, 1);
    // The share of variance that widens the levels is an estimate where prices are drawn.
    const double width = certain.interval_95->high - certain.interval_95->low;
    EXPECT_NEAR(drawn.interval_95->low, certain.interval_95->low, 0.02 * width);
    EXPECT_NEAR(drawn.interval_95->high, certain.interval_95->high, 0.02 * width);
  }
}

TEST(Sweep, SpansBothBoundsOfABoundedSetting) {
  Settings all = some_settings(25);
  SweepSetting slower = all.settings[2];
  for (RoundStatistics& request : slower.min_drafted) request.drafts[0].steps.passes += request.rounds;
  SweepSetting bounded = all.settings[2];
  bounded.status = AnswerStatus::bounded;
  bounded.max_drafted = slower.min_drafted;
  const std::vector<SweepSetting> settings{all.settings[2], slower, bounded};
  const std::vector<SweepTarget> targets = some_targets();
  const auto table = sweep(all.vanilla, settings, targets);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->at(2, 0).status, AnswerStatus::bounded);
  EXPECT_EQ(table->at(2, 0).speedup, table->at(0, 0).speedup);
  EXPECT_EQ(table->at(2, 0).min_speedup, table->at(1, 0).speedup);
  EXPECT_LT(table->at(2, 0).min_speedup, table->at(2, 0).speedup);
  EXPECT_EQ(table->at(2, 0).interval_95->low, table->at(1, 0).interval_95->low);
  EXPECT_EQ(table->at(2, 0).interval_95->high, table->at(0, 0).interval_95->high);
}

TEST(Sweep, LeavesOutRequestsWithoutTokensAndInvalidSettings) {
  Settings all = some_settings(12);
  const auto before = sweep(all.vanilla, all.settings, some_targets());
  all.vanilla.emplace_back();
  for (SweepSetting& setting : all.settings) setting.min_drafted.emplace_back();
  all.settings.push_back({.status = AnswerStatus::invalid});
  const auto after = sweep(all.vanilla, all.settings, some_targets());
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->requests, 12U);
  EXPECT_EQ(after->at(3, 1).interval_95->low, before->at(3, 1).interval_95->low);
  const SweepAnswer& invalid = after->at(all.settings.size() - 1, 0);
  EXPECT_EQ(invalid.status, AnswerStatus::invalid);
  EXPECT_EQ(invalid.speedup, 0.0);
  EXPECT_FALSE(invalid.interval_95.has_value());
}

TEST(Sweep, SaysWhyThereIsNoInterval) {
  const Settings all = some_settings(9);
  const auto table = sweep(all.vanilla, all.settings, some_targets());
  ASSERT_TRUE(table);
  EXPECT_EQ(table->no_interval_reason, "9 requests, an interval needs at least 10");
  EXPECT_GT(table->at(0, 0).speedup, 0.0);
  EXPECT_FALSE(table->at(0, 0).interval_95.has_value());
}

TEST(Sweep, NamesWhatDoesNotFit) {
  const Settings all = some_settings(12);
  std::vector<SweepTarget> targets = some_targets();
  EXPECT_EQ(error_of(sweep({}, all.settings, targets)),
            "sweep: found no request with tokens, expected at least one");
  EXPECT_EQ(error_of(sweep(all.vanilla, all.settings, targets, {.draws = 5})),
            "sweep draws: found 5, expected 200 to 100000");

  std::vector<SweepSetting> settings = all.settings;
  settings[1].min_drafted.pop_back();
  EXPECT_EQ(error_of(sweep(all.vanilla, settings, targets)),
            "setting 1, fewest draft tokens: found 11 requests, expected 12 as vanilla decoding has");
  settings = all.settings;
  ++settings[3].min_drafted[2].tokens;
  EXPECT_THAT(error_of(sweep(all.vanilla, settings, targets)), testing::StartsWith("setting 3, request 2: "));
  settings[3].status = AnswerStatus::approximate;
  EXPECT_TRUE(sweep(all.vanilla, settings, targets)) << "a model of acceptance may end elsewhere";

  targets[0].prices.drafts.resize(4);
  EXPECT_EQ(error_of(sweep(all.vanilla, all.settings, targets)),
            "prices of 'certain': found none of 1 rows with exit layer 4, expected all that settings use");
  targets = some_targets();
  targets[1].prices.target_step.ns = -1e12;
  EXPECT_THAT(error_of(sweep(all.vanilla, all.settings, targets)), testing::HasSubstr("'drawn 0'"));
}

TEST(VanillaSteps, AreOneATokenFromTheFirstContextOn) {
  std::int64_t context = 0;
  for (std::int64_t i = 0; i < 37; ++i) context += 11 + i;
  EXPECT_EQ(vanilla_steps(37, 11).passes, 37);
  EXPECT_EQ(vanilla_steps(37, 11).context, context);
}

}  // namespace
}  // namespace draftscope::simulator
