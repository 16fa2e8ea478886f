// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/prediction.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "synthetic_requests.h"

namespace draftscope::simulator {
namespace {

SweepTarget target_with(const PriceSpread& spread) {
  return {.name = "this machine",
          .prices = synthetic_prices(),
          .draws = spread_prices(synthetic_prices(), spread, 3)};
}

double sum_of_shares(const VarianceBudget& budget) {
  return budget.acceptance + budget.fit + budget.width + budget.transfer + budget.interaction;
}

TEST(VarianceBudget, AddsUpToAll) {
  const SyntheticText text = synthetic_text(30, 1);
  const auto budget = variance_budget(
      text.vanilla, text.setting, target_with({.fit = 0.05, .width = 0.4, .transfer = 0.3, .common = 0.3}));
  ASSERT_TRUE(budget) << budget.error().message;
  EXPECT_NEAR(sum_of_shares(*budget), 1.0, 1e-12);
  for (const double share : {budget->acceptance, budget->fit, budget->width, budget->transfer})
    EXPECT_GT(share, 0.0);
  EXPECT_LT(std::abs(budget->interaction), 0.15) << "sources are independent";
}

TEST(VarianceBudget, GivesAllToTheOnlySource) {
  const SyntheticText text = synthetic_text(30, 2);
  const auto acceptance =
      variance_budget(text.vanilla, text.setting, {.name = "certain", .prices = synthetic_prices()});
  ASSERT_TRUE(acceptance);
  EXPECT_NEAR(acceptance->acceptance, 1.0, 1e-12);
  EXPECT_NEAR(acceptance->fit + acceptance->width + acceptance->transfer, 0.0, 1e-12);

  SyntheticText alike = text;
  std::fill(alike.setting.min_drafted.begin(), alike.setting.min_drafted.end(), text.setting.min_drafted[0]);
  std::fill(alike.vanilla.begin(), alike.vanilla.end(), text.vanilla[0]);
  const auto width = variance_budget(alike.vanilla, alike.setting, target_with({.width = 0.5}));
  ASSERT_TRUE(width);
  EXPECT_NEAR(width->width, 1.0, 1e-9);
  EXPECT_GT(width->sigma, 0.0);
}

TEST(VarianceBudget, GivesNothingToNoiseThatIsCommonToBothRuns) {
  const SyntheticText text = synthetic_text(30, 3);
  const auto budget = variance_budget(text.vanilla, text.setting, target_with({.common = 0.5}));
  ASSERT_TRUE(budget);
  EXPECT_NEAR(budget->transfer, 0.0, 1e-12);
  EXPECT_NEAR(budget->acceptance, 1.0, 1e-9);
}

TEST(VarianceBudget, HasNoSharesWhereNothingVaries) {
  SyntheticText alike = synthetic_text(12, 4);
  std::fill(alike.setting.min_drafted.begin(), alike.setting.min_drafted.end(), alike.setting.min_drafted[0]);
  std::fill(alike.vanilla.begin(), alike.vanilla.end(), alike.vanilla[0]);
  const auto budget =
      variance_budget(alike.vanilla, alike.setting, {.name = "certain", .prices = synthetic_prices()});
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->sigma, 0.0);
  EXPECT_EQ(sum_of_shares(*budget), 0.0);
}

TEST(VarianceBudget, NeedsRequests) {
  const SyntheticText text = synthetic_text(9, 5);
  const auto budget = variance_budget(text.vanilla, text.setting, target_with({.fit = 0.1}));
  ASSERT_FALSE(budget);
  EXPECT_EQ(budget.error().message, "variance budget: found 9 requests, expected at least 10");
}

}  // namespace
}  // namespace draftscope::simulator
