// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "strategies/cascade/rule.h"

namespace draftscope::speculation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CascadeRule::Options by_weights(std::vector<double> costs) {
  return {.costs = std::move(costs), .row_cost = 0.02, .is_measured = false};
}

/// Reports many times that a level's tokens, given probability `share` by the draft, are correct with
/// frequency `right`.
void teach(CascadeRule& rule, std::int32_t level, double right, double share = 0.8) {
  for (int round = 0; round < 40; ++round) {
    std::vector<CascadeRule::Judged> judged;
    for (int i = 0; i < 20; ++i) judged.push_back({level, share, 1, i < right * 20.0 - 0.5});
    rule.judge(judged);
  }
}

TEST(Cascade, WeighsAStepAsPublished) {
  CascadeRule rule(by_weights({0.6}));
  teach(rule, 0, 0.75);
  for (int i = 0; i < 50; ++i) rule.judge({});  // rounds without a token change nothing
  // α = 3/4; guesses from the text start at 1 − 0.7^n for n = 1 … 4 matched tokens.
  const double alpha = 0.75;
  const double text = (4.0 - (0.7 + 0.49 + 0.343 + 0.2401)) / 4.0;
  for (int k = 1; k <= 5; ++k) {
    const double tokens = alpha * (1.0 - std::pow(alpha, k)) / (1.0 - alpha) + std::pow(alpha, k) * text;
    EXPECT_NEAR(rule.objective(0, k), tokens / (0.6 * k + 0.01), 1e-4) << k;
  }
}

TEST(Cascade, MovesARateToTheMeanOfItsLatestTokens) {
  MovingShare share(0.5, 0.7, 3);
  share.move();
  EXPECT_EQ(share.share(), 0.5);
  for (const double outcome : {1.0, 0.0, 0.0, 1.0}) share.add(outcome);
  share.move();
  EXPECT_NEAR(share.share(), 0.7 * 0.5 + 0.3 / 3.0, 1e-12);
  share.move();
  EXPECT_NEAR(share.share(), 0.7 * 0.5 + 0.3 / 3.0, 1e-12) << "nothing was judged";
}

TEST(Cascade, TakesTheStepOfTheHighestObjectiveIfItPays) {
  std::mt19937 random(3);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0.02, 1.0)(random); };
  int drafts = 0;
  for (int trial = 0; trial < 200; ++trial) {
    CascadeRule rule(by_weights({uniform(), uniform(), uniform()}));
    for (int level = 0; level < 3; ++level) teach(rule, level, uniform());
    const double stays = uniform();
    const CascadeRule::Spent spent{1.0 + uniform(), 1.0 + 0.5 * uniform()};
    const int room = 1 + static_cast<int>(random() % 6);
    const CascadeRule::Step step = rule.choose(stays, spent, room);
    double highest = 0.0;
    CascadeRule::Step best;
    for (int level = 0; level < 3; ++level)
      for (int k = 1; k <= std::min(room, 5); ++k)
        if (rule.objective(level, k) > highest) {
          highest = rule.objective(level, k);
          best = {level, k};
        }
    double adds = 0.0;
    for (int i = 1; i <= best.length; ++i) adds += stays * std::pow(rule.rate(best.level), i);
    const double takes = best.length * (rule.pass_cost(best.level) + rule.row_cost());
    const bool pays = (spent.tokens + adds) / (spent.time + takes) > spent.tokens / spent.time;
    EXPECT_EQ(step.level, pays ? best.level : -1) << trial;
    if (pays) {
      EXPECT_EQ(step.length, best.length) << trial;
    }
    drafts += pays ? 1 : 0;
  }
  EXPECT_GT(drafts, 40);
  EXPECT_LT(drafts, 160);
}

TEST(Cascade, ExpectsOfATokenWhatItsLevelsTokensWereWorth) {
  CascadeRule rule(by_weights({0.5}));
  teach(rule, 0, 0.4, 0.8);
  EXPECT_NEAR(rule.acceptance(0, 0.8), 0.4, 1e-3) << "an overconfident draft";
  EXPECT_NEAR(rule.acceptance(0, 0.4), 0.2, 1e-3);
  EXPECT_EQ(rule.acceptance(0, 0.0), 0.0);
  EXPECT_LT(rule.guess_acceptance(1), rule.guess_acceptance(3));
  teach(rule, rule.levels(), 0.95);
  EXPECT_NEAR(rule.guess_acceptance(1), 0.95, 1e-3);
  EXPECT_EQ(rule.guess_acceptance(9), rule.guess_acceptance(4));
}

TEST(Cascade, MeasuresPassesAgainstStepsOfTheTarget) {
  CascadeRule rule({.costs = {0.5}, .is_measured = true});
  rule.end_pass(0, 1, 700);
  EXPECT_EQ(rule.pass_cost(0), 0.5) << "no step of the target was measured";
  for (int i = 0; i < 60; ++i) {
    rule.end_verification(1, 1000);
    rule.end_verification(6, 1500);
    rule.end_pass(0, 1, 300);
  }
  EXPECT_NEAR(rule.pass_cost(0), 0.3, 1e-4);
  EXPECT_NEAR(rule.row_cost(), 0.1, 1e-4);
  CascadeRule fixed(by_weights({0.5}));
  fixed.end_verification(1, 1000);
  fixed.end_verification(6, 1500);
  fixed.end_pass(0, 1, 300);
  EXPECT_EQ(fixed.pass_cost(0), 0.5);
  EXPECT_EQ(fixed.row_cost(), 0.02);
}

TEST(Cascade, GuessesWhatFollowedTheLongestEndLast) {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::int32_t> text(1 + random() % 40);
    for (std::int32_t& token : text) token = static_cast<std::int32_t>(random() % 3);
    const auto most = static_cast<std::int32_t>(random() % 6);
    const LastFollowed found = last_followed(text, most, 5);
    std::int32_t matched = 0;
    std::size_t place = 0;
    for (std::int32_t n = 1; n <= most; ++n)
      for (std::size_t end = static_cast<std::size_t>(n); end < text.size(); ++end)
        if (std::equal(text.end() - n, text.end(), text.begin() + static_cast<std::ptrdiff_t>(end) - n)) {
          matched = n;
          place = end;
        }
    ASSERT_EQ(found.matched, matched) << seed;
    if (matched == 0) {
      EXPECT_TRUE(found.tokens.empty());
      continue;
    }
    EXPECT_EQ(found.tokens.data(), text.data() + place) << seed;
    EXPECT_EQ(found.tokens.size(), std::min<std::size_t>(5, text.size() - place)) << seed;
  }
  EXPECT_TRUE(last_followed({}, 3, 5).tokens.empty());
}

std::vector<std::int32_t> kept_layers(const SublayerMask& mask) {
  std::vector<std::int32_t> kept;
  for (std::int32_t layer = 0; layer < mask.n_layers(); ++layer) {
    EXPECT_EQ(mask.runs_attention(layer), mask.runs_mlp(layer));
    if (mask.runs_attention(layer)) kept.push_back(layer);
  }
  return kept;
}

TEST(CascadeLevels, AreReadInTheirOrder) {
  const auto levels = cascade_levels("0.5+exit-3+q4_0+0.4/q8_0", 12);
  ASSERT_TRUE(levels) << levels.error().message;
  ASSERT_EQ(levels->size(), 4U);
  EXPECT_THAT(kept_layers((*levels)[0].mask), ElementsAre(0, 1, 3, 5, 7, 9, 11));
  EXPECT_THAT(kept_layers((*levels)[1].mask), ElementsAre(0, 1, 2));
  EXPECT_EQ(kept_layers((*levels)[2].mask).size(), 12U);
  EXPECT_EQ((*levels)[2].weights, WeightFormat::q4_0);
  EXPECT_EQ(kept_layers((*levels)[3].mask).size(), 8U);
  EXPECT_EQ((*levels)[3].weights, WeightFormat::q8_0);
  EXPECT_FALSE((*levels)[0].weights);
  EXPECT_TRUE(cascade_levels("none", 12)->empty());
}

TEST(CascadeLevels, LeaveOutTheShareAndKeepBothEnds) {
  for (std::int32_t n_layers = 3; n_layers <= 40; ++n_layers)
    for (const char* share : {"0.1", "0.4", "0.6", "0.99"}) {
      const auto kept = kept_layers((*cascade_levels(share, n_layers))[0].mask);
      const auto left_out = static_cast<std::size_t>(std::floor(std::stod(share) * (n_layers - 2)));
      EXPECT_EQ(kept.size(), static_cast<std::size_t>(n_layers) - left_out) << share << " of " << n_layers;
      EXPECT_EQ(kept.front(), 0);
      EXPECT_EQ(kept.back(), n_layers - 1);
    }
}

TEST(CascadeLevels, RefuseWhatIsNone) {
  for (const char* text : {"1.5", "0", "exit-12", "exit-0", "exit-", "bf16", "0.4/bf16", "0.4/", "/q4_0",
                           "0.4++0.6", "0.1+0.1+0.1+0.1+0.1+0.1+0.1+0.1+0.1"}) {
    const auto levels = cascade_levels(text, 12);
    ASSERT_FALSE(levels) << text;
    EXPECT_THAT(levels.error().message, HasSubstr("strategy cascade: levels: found ")) << text;
    EXPECT_LT(levels.error().message.size(), 300U);
  }
}

}  // namespace
}  // namespace draftscope::speculation
