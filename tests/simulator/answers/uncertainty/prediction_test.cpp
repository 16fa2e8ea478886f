// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "answers/uncertainty/confidence_draws.h"
#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

double width(const RatioEstimate& estimate) {
  return estimate.interval_95->high - estimate.interval_95->low;
}

TEST(Predictions, AreTheClusterBootstrapWherePricesAreCertain) {
  const SyntheticText text = synthetic_text(35, 1);
  const PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  std::vector<ClusterSums> times;
  std::vector<ClusterSums> rates;
  for (const RoundStatistics& request : text.setting.min_drafted) {
    const double ns = time_ns(request, target.prices);
    times.push_back({vanilla_time_ns(request.tokens, synthetic_prompt, target.prices), ns});
    rates.push_back({static_cast<double>(request.tokens), ns / 1e9});
  }
  for (const auto& [predict, clusters] :
       {std::pair(&predict_speedup, times), std::pair(&predict_rate, rates)}) {
    const auto predicted = predict(text.vanilla, text.setting, target, {.draws = 700, .seed = 5});
    ASSERT_TRUE(predicted) << predicted.error().message;
    const auto expected = cluster_bootstrap(clusters, {.draws = 700, .seed = 5});
    EXPECT_NEAR(predicted->min_drafted.value / expected->value, 1.0, 1e-12);
    EXPECT_NEAR(predicted->interval_95()->low / expected->interval_95->low, 1.0, 1e-9);
    EXPECT_NEAR(predicted->interval_80()->high / expected->interval_80->high, 1.0, 1e-9);
    EXPECT_FALSE(predicted->max_drafted);
    double mean = 0.0;
    for (const ClusterSums& of : clusters) mean += of.numerator / of.denominator / 35.0;
    EXPECT_NEAR(predicted->min_drafted.cluster_mean / mean, 1.0, 1e-12);
  }
}

TEST(NoisyBootstrap, IsTheBootstrapWhereNoiseIsTheSameInAllDraws) {
  std::mt19937_64 random(4);
  std::vector<ClusterSums> clusters;
  for (int i = 0; i < 30; ++i) clusters.push_back(sum_of(synthetic_rounds(random)));
  const BootstrapOptions options{.draws = 500, .seed = 8};
  const RatioEstimate plain = cluster_bootstrap(clusters, options).value();
  const std::vector<double> same(500, 0.25);
  const RatioEstimate noisy = noisy_bootstrap(clusters, same, options).value();
  EXPECT_EQ(noisy.value, plain.value);
  EXPECT_NEAR(noisy.interval_95->low, plain.interval_95->low, 1e-12);
  EXPECT_NEAR(noisy.interval_80->high, plain.interval_80->high, 1e-12);
  std::vector<double> wide(500);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = i % 2 == 0 ? 1.0 : -1.0;
  const RatioEstimate wider = noisy_bootstrap(clusters, wide, options).value();
  EXPECT_GT(width(wider), 2.0 * width(plain));
  wide[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(noisy_bootstrap(clusters, wide, options));
  clusters.resize(2);
  const auto few = noisy_bootstrap(clusters, std::vector<double>(500, 0.1), options);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_FALSE(few->interval_95);
  EXPECT_FALSE(few->no_interval_reason.empty());
}

TEST(PredictSpeedup, IsWidenedByPriceNoiseUnlessItIsCommonToBothRuns) {
  const SyntheticText text = synthetic_text(60, 2);
  PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  const auto certain = predict_speedup(text.vanilla, text.setting, target);
  target.draws = spread_prices(target.prices, {.common = 0.5}, 1);
  const auto common = predict_speedup(text.vanilla, text.setting, target);
  target.draws = spread_prices(target.prices, {.fit = 0.1}, 1);
  const auto fit = predict_speedup(text.vanilla, text.setting, target);
  ASSERT_TRUE(certain && common && fit);
  EXPECT_NEAR(width(common->min_drafted), width(certain->min_drafted), 1e-9);
  EXPECT_GT(width(fit->min_drafted), 1.2 * width(certain->min_drafted));
}

TEST(IntervalOfCases, AddsTheDistanceOfApproximateCasesToOtherErrorsBySquares) {
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> uniform(0.0, 0.5);
  for (int i = 0; i < 100; ++i) {
    const auto a_case = [&] {
      const double value = std::exp(uniform(random));
      return RoundsCase{value, {value * std::exp(-uniform(random)), value * std::exp(uniform(random))}};
    };
    const RoundsCase one = a_case();
    const RoundsCase other = a_case();
    const Interval hull = interval_of_cases(one, other, AnswerStatus::bounded);
    EXPECT_EQ(hull.low, std::min(one.interval.low, other.interval.low));
    EXPECT_EQ(hull.high, std::max(one.interval.high, other.interval.high));
    const Interval both = interval_of_cases(one, other, AnswerStatus::approximate);
    EXPECT_LE(both.low, std::min(one.value, other.value) * (1 + 1e-12));
    EXPECT_GE(both.high, std::max(one.value, other.value) * (1 - 1e-12));
    const Interval same = interval_of_cases(other, one, AnswerStatus::approximate);
    EXPECT_DOUBLE_EQ(same.low, both.low);
    EXPECT_DOUBLE_EQ(same.high, both.high);
    const double down = std::max(one.value / one.interval.low, other.value / other.interval.low);
    const double up = std::max(one.interval.high / one.value, other.interval.high / other.value);
    EXPECT_GE(both.low, std::min(one.value, other.value) / down * (1 - 1e-12)) << "errors added in full";
    EXPECT_LE(both.high, std::max(one.value, other.value) * up * (1 + 1e-12)) << "errors added in full";
    EXPECT_LE(both.low, std::sqrt(one.value * other.value) / down * (1 + 1e-12)) << "an error left out";
    EXPECT_GE(both.high, std::sqrt(one.value * other.value) * up * (1 - 1e-12)) << "an error left out";
  }
  const Interval certain = interval_of_cases({1.0, {1.0, 1.0}}, {1.5, {1.5, 1.5}}, AnswerStatus::approximate);
  EXPECT_DOUBLE_EQ(certain.low, 1.0);
  EXPECT_DOUBLE_EQ(certain.high, 1.5);
  const Interval alike = interval_of_cases({1.2, {1.0, 1.4}}, {1.2, {1.0, 1.4}}, AnswerStatus::approximate);
  EXPECT_DOUBLE_EQ(alike.low, 1.0);
  EXPECT_DOUBLE_EQ(alike.high, 1.4);
}

/// A text whose second bound drafts ten steps more in each request.
SyntheticText bounded_text() {
  SyntheticText text = synthetic_text(20, 3);
  text.setting.max_drafted = text.setting.min_drafted;
  for (RoundStatistics& request : text.setting.max_drafted) request.drafts[0].steps.passes += 10;
  text.setting.status = AnswerStatus::bounded;
  return text;
}

TEST(PredictSpeedup, JoinsTheCasesOfApproximateRounds) {
  SyntheticText text = bounded_text();
  const PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  const auto bounded = predict_speedup(text.vanilla, text.setting, target);
  text.setting.status = AnswerStatus::approximate;
  const auto joined = predict_speedup(text.vanilla, text.setting, target);
  ASSERT_TRUE(bounded && joined);
  EXPECT_EQ(joined->min_drafted.value, bounded->min_drafted.value);
  EXPECT_EQ(joined->min_drafted.interval_95->low, joined->max_drafted->interval_95->low);
  EXPECT_GT(joined->interval_95()->low, bounded->interval_95()->low);
  EXPECT_LT(joined->interval_95()->high, bounded->interval_95()->high);
  EXPECT_LT(joined->min_drafted.interval_95->low, joined->max_drafted->value);
  EXPECT_GT(joined->min_drafted.interval_95->high, joined->min_drafted.value);
}

/// A stated rate has one request and no rounds to resample.
TEST(PredictSpeedup, OfAStatedRateIsTheNarrowerTheSmallerItsError) {
  const SyntheticText text = synthetic_text(1, 3);
  const PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  double narrower = std::numeric_limits<double>::infinity();
  for (const double error : {0.2, 0.1, 0.03, 0.001}) {
    PredictionOptions options;
    options.other_texts = TextSpread{.sigma = 0.06, .freedom = 2.8, .stated_error = error};
    const auto predicted = predict_speedup(text.vanilla, text.setting, target, options);
    const auto rate = predict_rate(text.vanilla, text.setting, target, options);
    ASSERT_TRUE(predicted && rate);
    for (const RatioEstimate* const of : {&predicted->min_drafted, &rate->min_drafted}) {
      ASSERT_TRUE(of->interval_80 && of->interval_95);
      EXPECT_TRUE(of->no_interval_reason.empty());
      EXPECT_LT(of->interval_95->low, of->interval_80->low);
      EXPECT_LT(of->interval_80->low, of->value);
      EXPECT_LT(of->value, of->interval_80->high);
      EXPECT_LT(of->interval_80->high, of->interval_95->high);
    }
    const double found = width(predicted->min_drafted) / predicted->min_drafted.value;
    EXPECT_LT(found, narrower);
    EXPECT_GT(found, 0.2) << "tasks differ, however many rounds there were";
    narrower = found;
  }
  const auto alone = predict_speedup(text.vanilla, text.setting, target);
  ASSERT_TRUE(alone);
  EXPECT_FALSE(alone->min_drafted.interval_95);
}

TEST(Predictions, GiveBothBoundsAndRefuseInvalidSettings) {
  for (const auto& predict : {predict_speedup, predict_rate}) {
    SyntheticText text = bounded_text();
    const PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
    const auto bounded = predict(text.vanilla, text.setting, target, {});
    ASSERT_TRUE(bounded && bounded->max_drafted);
    EXPECT_LT(bounded->max_drafted->value, bounded->min_drafted.value);
    EXPECT_EQ(bounded->lower(), bounded->max_drafted->value);
    EXPECT_DOUBLE_EQ(bounded->interval_95()->low, bounded->max_drafted->interval_95->low);
    EXPECT_DOUBLE_EQ(bounded->interval_95()->high, bounded->min_drafted.interval_95->high);
    text.setting.status = AnswerStatus::invalid;
    EXPECT_FALSE(predict(text.vanilla, text.setting, target, {}));
  }
}

TEST(PredictSpeedup, HasTheSameBitsOnAnyNumberOfThreads) {
  const SyntheticText text = synthetic_text(25, 6);
  PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  target.draws = spread_prices(target.prices, {.fit = 0.03, .width = 0.2, .transfer = 0.2}, 2);
  const auto one = predict_speedup(text.vanilla, text.setting, target, {.threads = 1}).value();
  for (std::int32_t threads = 2; threads <= 4; ++threads) {
    const auto more = predict_speedup(text.vanilla, text.setting, target, {.threads = threads}).value();
    EXPECT_EQ(one.min_drafted.interval_95->low, more.min_drafted.interval_95->low);
    EXPECT_EQ(one.min_drafted.interval_80->high, more.min_drafted.interval_80->high);
  }
}

TEST(PredictSpeedup, LeavesOutRequestsWithoutTokens) {
  SyntheticText text = synthetic_text(12, 6);
  const PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  const auto before = predict_speedup(text.vanilla, text.setting, target).value();
  text.vanilla.emplace_back();
  text.setting.min_drafted.emplace_back();
  const auto after = predict_speedup(text.vanilla, text.setting, target).value();
  EXPECT_EQ(after.min_drafted.interval_95->low, before.min_drafted.interval_95->low);
}

TEST(PredictSpeedup, NamesWhatDoesNotFit) {
  const SyntheticText text = synthetic_text(12, 6);
  PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  const auto refusal = [&](const std::vector<PassCount>& vanilla, const SettingRounds& setting,
                           const PredictionOptions& options = {}) {
    const auto found = predict_speedup(vanilla, setting, target, options);
    return found ? std::string("no error") : found.error().message;
  };
  EXPECT_EQ(refusal({}, text.setting), "setting: found no request with tokens, expected at least one");
  EXPECT_EQ(refusal(text.vanilla, text.setting, {.draws = 5}), "draws: found 5, expected 200 to 100000");
  SettingRounds setting = text.setting;
  setting.min_drafted.pop_back();
  EXPECT_EQ(refusal(text.vanilla, setting),
            "setting, fewest draft tokens: found 11 requests, expected 12 as vanilla decoding has");
  setting = text.setting;
  ++setting.min_drafted[2].tokens;
  EXPECT_EQ(refusal(text.vanilla, setting).find("setting, request 2: found"), 0U);
  setting.status = AnswerStatus::approximate;
  EXPECT_EQ(refusal(text.vanilla, setting), "no error") << "a model of acceptance may end elsewhere";
  target.prices.drafts.resize(synthetic_exit);
  EXPECT_EQ(refusal(text.vanilla, text.setting), "exit 3: found no price, expected 1 to 2");
  target.prices = synthetic_prices();
  target.prices.target_step.ns = -1e12;
  EXPECT_NE(refusal(text.vanilla, text.setting).find("expected positive prices"), std::string::npos);
}

TEST(VanillaSteps, AreOneATokenFromTheFirstContextOn) {
  std::int64_t context = 0;
  for (std::int64_t i = 0; i < 37; ++i) context += 11 + i;
  EXPECT_EQ(vanilla_steps(37, 11).passes, 37);
  EXPECT_EQ(vanilla_steps(37, 11).context, context);
}

TEST(PredictRate, IsWidenedByNoiseThatCancelsInASpeedup) {
  const SyntheticText text = synthetic_text(60, 2);
  PricedMachine target{.name = "this machine", .prices = synthetic_prices()};
  const auto certain = predict_rate(text.vanilla, text.setting, target);
  target.draws = spread_prices(target.prices, {.common = 0.3}, 1);
  const auto common = predict_rate(text.vanilla, text.setting, target);
  ASSERT_TRUE(certain && common);
  EXPECT_GT(width(common->min_drafted), 2.0 * width(certain->min_drafted));
  EXPECT_NEAR(common->min_drafted.value, certain->min_drafted.value, 1e-9);
}

}  // namespace
}  // namespace draftscope::simulator
