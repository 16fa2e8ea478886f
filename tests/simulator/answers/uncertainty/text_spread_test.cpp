// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/uncertainty/text_spread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

/// Spread of ten requests of each kind with exactly these speedups.
TextSpread spread_of(const std::vector<double>& speedups) {
  std::vector<ClusterSums> requests;
  std::vector<std::string> kinds;
  for (std::size_t kind = 0; kind < speedups.size(); ++kind)
    for (int i = 1; i <= 10; ++i) {
      requests.push_back({speedups[kind] * i, 1.0 * i});
      kinds.push_back(std::to_string(kind));
    }
  return spread_between_kinds(requests, kinds);
}

TEST(TextSpread, IsThePublishedOneWhereOneKindWasRecorded) {
  const TextSpread one = spread_of({1.7});
  EXPECT_EQ(one.kinds, 1U);
  EXPECT_NEAR(one.sigma, 0.062, 1e-12);
  EXPECT_NEAR(one.freedom, 2.8, 1e-12);
}

TEST(TextSpread, LearnsFromTheRecordedKinds) {
  const TextSpread alike = spread_of({1.5, 1.5, 1.5, 1.5, 1.5, 1.5});
  const TextSpread unlike = spread_of({1.0, 2.0, 1.2, 1.8, 0.9, 2.2});
  EXPECT_LT(alike.sigma, 0.062);
  EXPECT_GT(unlike.sigma, 0.2);
  EXPECT_EQ(alike.freedom, unlike.freedom);
  EXPECT_GT(alike.freedom, spread_of({1.5}).freedom);
}

/// If kinds follow the prior, the nominal intervals have their nominal coverage of new ones.
TEST(TextSpread, HoldsKindsThatWereNotRecorded) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::chi_squared_distribution<double> chi_squared(2.8);
  for (const int recorded : {1, 2, 5}) {
    int held = 0;
    constexpr int repeats = 1500;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const double sigma = 0.062 * std::sqrt(2.8 / chi_squared(random));
      std::vector<double> speedups;
      double mean = 0.0;
      for (int kind = 0; kind < recorded; ++kind) {
        speedups.push_back(std::exp(sigma * normal(random)));
        mean += std::log(speedups.back()) / recorded;
      }
      std::vector<double> draws =
          kind_deviations(spread_of(speedups), {.draws = 400, .seed = static_cast<std::uint64_t>(repeat)});
      std::sort(draws.begin(), draws.end());
      const double asked = sigma * normal(random) - mean;
      if (draws[10] <= asked && asked <= draws[389]) ++held;
    }
    EXPECT_NEAR(static_cast<double>(held) / repeats, 0.95, 0.025) << recorded;
  }
}

TEST(TextSpread, WidensPredictionsAndTheirBudget) {
  const SyntheticText text = synthetic_text(40, 9);
  const SweepTarget target{.name = "this machine", .prices = synthetic_prices()};
  SweepOptions options{.draws = 1000, .seed = 3};
  const auto same = predict_speedup_and_rate(text.vanilla, text.setting, target, options);
  const auto same_budget = variance_budget(text.vanilla, text.setting, target, options);
  options.other_texts = TextSpread{.sigma = 0.2, .freedom = 5.0, .kinds = 3};
  const auto other = predict_speedup_and_rate(text.vanilla, text.setting, target, options);
  const auto other_budget = variance_budget(text.vanilla, text.setting, target, options);
  ASSERT_TRUE(same && same_budget && other && other_budget);
  const auto log_width = [](const Interval& interval) { return std::log(interval.high / interval.low); };
  // Student's 97.5 % quantile for five degrees of freedom is 2.57.
  const double added = 2.0 * 2.57 * 0.2 * std::sqrt(1.0 + 1.0 / 3.0);
  const double alone = log_width(*outermost_interval_95(same->speedup));
  EXPECT_NEAR(log_width(*outermost_interval_95(other->speedup)), std::hypot(alone, added), 0.15 * added);
  EXPECT_EQ(other->speedup.min_drafted.total.value, same->speedup.min_drafted.total.value);
  EXPECT_GT(log_width(*other->rate.interval_95()), 0.8 * added);
  EXPECT_LT(log_width(*same->rate.interval_95()), 0.8 * added);
  EXPECT_GT(other_budget->sigma, 1.5 * same_budget->sigma);
  EXPECT_NEAR(other_budget->acceptance + other_budget->fit + other_budget->width + other_budget->transfer +
                  other_budget->interaction,
              1.0, 1e-9);
}

}  // namespace
}  // namespace draftscope::simulator
