// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "answers/oracle/oracle.h"
#include "answers/oracle/price_of_time.h"
#include "answers/oracle/text_rounds.h"
#include "random_text.h"

namespace draftscope::simulator {
namespace {

TEST(Dinkelbach, FindsTheLargestRatio) {
  std::mt19937 random(41);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Yield> choices;
    for (int i = 0; i < 30; ++i) choices.push_back({uniform(random, 1.0, 9.0), uniform(random, 10.0, 99.0)});
    double largest = 0.0;
    for (const Yield& choice : choices) largest = std::max(largest, choice.tokens / choice.ns);
    const double price = dinkelbach([&](double at) {
      return *std::max_element(choices.begin(), choices.end(), [&](const Yield& a, const Yield& b) {
        return a.tokens - at * a.ns < b.tokens - at * b.ns;
      });
    });
    EXPECT_DOUBLE_EQ(price, largest);
  }
}

/// A random model with acceptances on the levels that the process rounds to, so that rounding has no effect.
ConfidenceModel random_model(std::mt19937& random) {
  const auto share = [&] { return uniform(random, 0.1, 0.9); };
  ConfidenceModel model{.exit = 1, .edges = {0.5}, .acceptance = {}, .start = {}, .next = {}};
  for (int bin = 0; bin < 2; ++bin) {
    model.acceptance.push_back(std::exp(-static_cast<double>(random() % 60) / 50.0));
    const double low = share();
    model.next.push_back({low, 1.0 - low});
  }
  const double low = share();
  model.start = {low, 1.0 - low};
  return model;
}

/// Yield of a policy. The policy says for each history of bins, of up to two draft tokens, whether to
/// continue: bit 0 after (0), 1 after (1), 2–5 after (0,0), (0,1), (1,0), (1,1).
Yield of_policy(unsigned policy, const ConfidenceModel& model, const Prices& prices, double context) {
  const DraftPrices& draft = prices.drafts[1];
  const auto round_ns = [&](int drafted) {
    double time = prices.round_ns + draft.verify[static_cast<std::size_t>(drafted) + 1].at(context);
    for (int k = 0; k < drafted; ++k) time += draft.step.at(context + k);
    return time;
  };
  Yield sum;
  const auto end = [&](double chance, double tokens, int drafted) {
    sum.tokens += chance * (1.0 + tokens);
    sum.ns += chance * round_ns(drafted);
  };
  for (std::size_t a = 0; a < 2; ++a) {
    const double after_a = model.start[a];
    const double first = model.acceptance[a];
    if ((policy >> a & 1U) == 0) {
      end(after_a, first, 1);
      continue;
    }
    for (std::size_t b = 0; b < 2; ++b) {
      const double after_b = after_a * model.next[a][b];
      const double second = first * model.acceptance[b];
      if ((policy >> (2 + 2 * a + b) & 1U) == 0) {
        end(after_b, first + second, 2);
        continue;
      }
      for (std::size_t c = 0; c < 2; ++c)
        end(after_b * model.next[b][c], first + second + second * model.acceptance[c], 3);
    }
  }
  return sum;
}

TEST(BestPrefixRule, EqualsTheBestOfAllPoliciesOnHistories) {
  std::mt19937 random(43);
  int drafting = 0;
  int choosing = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const ConfidenceModel model = random_model(random);
    const Prices prices = random_prices(random, {.layers = 2, .longest = 3, .is_rough = trial % 2 == 0});
    const double context = uniform(random, 0.0, 50.0);
    double best = 1.0 / (prices.target_step.at(context) + prices.step_round_ns);
    unsigned best_policy = 64;
    for (unsigned policy = 0; policy < 64; ++policy) {
      const Yield yield = of_policy(policy, model, prices, context);
      if (yield.tokens / yield.ns <= best) continue;
      best = yield.tokens / yield.ns;
      best_policy = policy;
    }
    const auto rule = best_prefix_rule(model, prices, 3, context);
    ASSERT_TRUE(rule) << rule.error().message;
    EXPECT_NEAR(rule->price / best, 1.0, 1e-12) << "trial " << trial;
    EXPECT_EQ(rule->rule.model.exit > 0, best_policy < 64);
    EXPECT_NEAR(rule->round.tokens / rule->round.ns / best, 1.0, 1e-12);
    if (best_policy == 64) continue;
    ++drafting;
    choosing += best_policy > 0 && best_policy < 63 ? 1 : 0;
    // The returned thresholds must agree with its value.
    unsigned policy = 0;
    for (unsigned a = 0; a < 2; ++a) {
      const double first = rule->rule.model.acceptance[a];
      if (first >= rule->rule.min_acceptance[0][a]) policy |= 1U << a;
      for (unsigned b = 0; b < 2; ++b)
        if (first * rule->rule.model.acceptance[b] >= rule->rule.min_acceptance[1][b])
          policy |= 1U << (2 + 2 * a + b);
    }
    const Yield yield = of_policy(policy, model, prices, context);
    EXPECT_NEAR(yield.tokens / yield.ns / best, 1.0, 1e-12);
  }
  EXPECT_GT(drafting, 50);
  EXPECT_GT(choosing, 20);
}

TEST(BestPrefixRule, DraftsMoreWhereStepsAreCheaper) {
  std::mt19937 random(44);
  for (int trial = 0; trial < 50; ++trial) {
    const ConfidenceModel model = random_model(random);
    const Prices prices = random_prices(random, {.layers = 2, .longest = 6});
    const double price = best_prefix_rule(model, prices, 6, 10.0).value().price;
    EXPECT_GE(best_prefix_rule(model, free_drafts(prices), 6, 10.0).value().price, price);
    EXPECT_LE(best_prefix_rule(model, prices, 3, 10.0).value().price, price * (1.0 + 1e-12));
  }
}

TEST(BestPrefixRule, NamesWhatIsMissing) {
  std::mt19937 random(45);
  const ConfidenceModel model = random_model(random);
  const Prices prices = random_prices(random, {.layers = 2, .longest = 2});
  EXPECT_FALSE(best_prefix_rule(model, prices, 3, 0.0));
  EXPECT_FALSE(best_prefix_rule(model, prices, 0, 0.0));
}

TEST(FitPrefixRule, FindsTheExitWhoseConfidencesTellEverything) {
  // Layer 1 is often right and its confidence says when; layer 2 costs the same and its confidence says
  // nothing.
  std::mt19937 random(46);
  ShadowTable table = random_text(random, {.positions = 600, .layers = 3});
  for (std::int32_t position = table.first; position < table.end(); ++position) {
    const std::int32_t truth = table.text[static_cast<std::size_t>(position)];
    const bool is_right = uniform(random, 0.0, 1.0) < 0.7;
    const auto at = static_cast<std::size_t>(position - table.first) * 3;
    table.cells[at].token = is_right ? truth : truth + 1;
    table.cells[at].probability = is_right ? 0.9F : 0.1F;
    table.cells[at + 1] = table.cells[at];
    table.cells[at + 1].probability = 0.5F;
  }
  Prices prices;
  prices.target_step = {100.0, 0.0};
  prices.drafts.resize(3);
  for (std::size_t exit = 1; exit < 3; ++exit)
    prices.drafts[exit] = {.step = {30.0, 0.0}, .verify = std::vector<AffineTime>(10, {100.0, 0.0})};
  const std::vector<const ShadowTable*> tables{&table};
  const RuleSearch search{.exits = {1, 2}, .longest = 8, .bins = 4};
  const auto rule = fit_prefix_rule(tables, prices, search);
  const auto single = fit_single_threshold(tables, prices, search);
  ASSERT_TRUE(rule && single);
  EXPECT_EQ(rule->rule.model.exit, 1);
  EXPECT_EQ(single->exit, 1);
  const auto rounds = replay(table, rule->rule);
  ASSERT_TRUE(rounds);
  // It always stops at the first wrong token: the bound for tokens that are verified as they are drafted.
  EXPECT_EQ(rounds->bounded_rounds, 0);
  const auto loose = replay(table, ConfidenceThreshold{.exit = 1, .longest = 8, .threshold = 0.0});
  EXPECT_LT(rounds->modelled.drafted, loose->modelled.drafted);
}

TEST(FitPrefixRule, GivesUpDraftsThatNeverPay) {
  std::mt19937 random(47);
  const ShadowTable table = random_text(random, {.positions = 100});
  Prices prices = random_prices(random, {});
  for (DraftPrices& draft : prices.drafts) draft.step.ns = 1e4;
  const std::vector<const ShadowTable*> tables{&table};
  const RuleSearch search{.exits = {1, 2, 3}, .longest = 4};
  const auto rule = fit_prefix_rule(tables, prices, search);
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->rule.model.exit, 0);
  EXPECT_EQ(rule->round.tokens, 1.0);
  EXPECT_EQ(fit_single_threshold(tables, prices, search).value().exit, 0);
  EXPECT_NEAR(time_ns(replay(table, rule->rule).value().modelled, prices), vanilla_time_ns(table, prices),
              1e-6);
}

TEST(FitPrefixRule, LearnsNothingFromTextsOfOneToken) {
  std::mt19937 random(48);
  const ShadowTable one_token = random_text(random, {.positions = 0});
  const std::vector<const ShadowTable*> tables{&one_token, &one_token};
  const auto rule = fit_prefix_rule(tables, random_prices(random, {}), {.exits = {1, 2, 3}, .longest = 4});
  ASSERT_TRUE(rule) << rule.error().message;
  EXPECT_EQ(rule->rule.model.exit, 0);
}

}  // namespace
}  // namespace draftscope::simulator
