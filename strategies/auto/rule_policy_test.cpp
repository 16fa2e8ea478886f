// SPDX-License-Identifier: GPL-3.0-or-later
// What auto learns from a policy before its first round.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "strategies/auto/rule_drafters.h"
#include "strategies/auto/rule_test_worlds.h"

namespace draftscope::speculation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Figures of drafts of `length` tokens, each correct with probability `acceptance` after correct ones.
Measurement measured_of(double acceptance, double step_cost, int length) {
  double accepted = 0.0;
  double path = 1.0;
  for (int i = 0; i < length; ++i) accepted += path *= acceptance;
  const double time = 1.0 + length * (step_cost + 0.03);
  return {.score = (1.0 + accepted) / time,
          .acceptance_rate = accepted / length,
          .tokens_per_round = 1.0 + accepted};
}

StrategySpecification parsed(const std::string& text) {
  return parse_strategy(text, 12).value();
}

PolicyFile policy_of(std::vector<Finalist> finalists) {
  PolicyFile policy;
  policy.finished = true;
  policy.strategy = finalists.front().setting;
  policy.finalists = std::move(finalists);
  return policy;
}

TEST(StepFigures, AreThoseThatLeadToWhatWasMeasured) {
  for (const double acceptance : {0.05, 0.4, 0.8, 0.97})
    for (const double cost : {0.05, 0.3, 0.9})
      for (const int length : {1, 4, 12}) {
        const auto figures = step_figures(measured_of(acceptance, cost, length));
        ASSERT_TRUE(figures);
        EXPECT_NEAR(figures->acceptance, acceptance, 1e-6) << length;
        EXPECT_NEAR(figures->step_cost, cost, 1e-6) << length;
      }
}

TEST(StepFigures, AreNoneOfWhatDraftedNothing) {
  EXPECT_FALSE(step_figures({.score = 1.0, .tokens_per_round = 1.0}));
  EXPECT_FALSE(step_figures({.score = 0.0, .acceptance_rate = 0.5, .tokens_per_round = 2.0}));
  EXPECT_FALSE(step_figures({.score = std::nan(""), .acceptance_rate = 0.5, .tokens_per_round = 2.0}));
  EXPECT_FALSE(step_figures({.score = 1.0, .acceptance_rate = 1.0, .tokens_per_round = 5.0}));
}

TEST(Expectations, AreReadAsTheyWereWritten) {
  const std::string text = "exit-8/0.71/0.35+skip-set/0.99999/0.00012+q4_0/0.9/0.3";
  const auto expectations = parse_expectations(text);
  ASSERT_TRUE(expectations) << expectations.error().message;
  EXPECT_EQ(expectations_text(*expectations), text);
  EXPECT_TRUE(parse_expectations("")->empty());
}

TEST(Expectations, AreRefusedInOneLine) {
  for (const char* wrong :
       {"x", "exit-8", "exit-8/0.5", "/0.5/0.5", "exit-8/0/0.5", "exit-8/1/0.5", "exit-8/nan/0.5",
        "exit-8/0.5/0", "exit-8/0.5/11", "exit-8/0.5/0.5/0.5", "exit-8/0.5/0.5+"}) {
    const auto refused = parse_expectations(wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr("expected: found"));
  }
  const auto unknown = auto_drafters(parsed("auto:exits=8,expected=exit-4/0.5/0.5"), 12, {});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("found 'exit-4'"));
}

TEST(AutoPolicy, AddsThePartsOfItsBestSettingsAndWhatTheyMeasured) {
  PolicyFile policy =
      policy_of({{"layerskip:exit=8,gamma=4", {measured_of(0.7, 0.6, 4)}},
                 {"draft-verify:skip-attention=3+5,skip-mlp=none,gamma=3", {measured_of(0.9, 0.8, 3)}},
                 {"quantised:weights=q5_0,gamma=2", {measured_of(0.95, 0.35, 2)}},
                 {"prompt-lookup", {measured_of(0.2, 0.02, 10)}},
                 {"layerskip:exit=8,gamma=2", {measured_of(0.1, 0.6, 2)}}});
  const auto known = with_policy(parsed("auto:max-gamma=6"), policy, 12);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->integer("max-gamma"), 6);
  EXPECT_EQ(known->text("policy"), "none") << "the file is needed no more";
  const auto drafters = auto_drafters(*known, 12, held_target("cpu", "bf16")).value();
  std::vector<std::string> names;
  for (const AutoDrafter& drafter : drafters) {
    names.push_back(drafter.name);
    EXPECT_EQ(drafter.expected.is_measured, drafter.name != "q8_0" && drafter.name != "q4_0") << drafter.name;
  }
  EXPECT_THAT(names, ElementsAre("exit 8", "skip set", "q8_0", "q4_0", "q5_0"));
  EXPECT_NEAR(drafters[0].expected.acceptance, 0.7, 1e-3) << "of the better one of two settings";
  EXPECT_NEAR(drafters[0].expected.step_cost, 0.6, 1e-3);
  EXPECT_EQ(drafters[1].mask.runs_attention(3), false);
  EXPECT_NEAR(drafters[4].expected.acceptance, 0.95, 1e-3);
}

TEST(AutoPolicy, LeavesWhatIsSaidBesideIt) {
  const PolicyFile policy =
      policy_of({{"layerskip:exit=8,gamma=4", {measured_of(0.7, 0.6, 4)}},
                 {"draft-verify:skip-attention=3,skip-mlp=none,gamma=3", {measured_of(0.9, 0.8, 3)}}});
  const auto known = with_policy(
      parsed("auto:exits=4,skip-attention=1,skip-mlp=2,formats=none,expected=exit-4/0.5/0.4"), policy, 12);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->text("exits"), "4+8");
  EXPECT_EQ(known->text("skip-attention"), "1");
  EXPECT_EQ(known->text("formats"), "none");
  EXPECT_THAT(known->text("expected"), HasSubstr("exit-4/0.5/0.4+exit-8/0.7/0.6"));
}

TEST(AutoPolicy, TakesTheSetThatASearchFound) {
  PolicyFile policy = policy_of({{"draft-verify:skip-set=policy.json", {measured_of(0.8, 0.5, 4)}}});
  SublayerMask set(12);
  set.skip_attention(2);
  policy.skip_set = set;
  const auto drafters = auto_drafters(with_policy(parsed("auto"), policy, 12).value(), 12, {}).value();
  ASSERT_EQ(drafters.size(), 1U);
  EXPECT_EQ(drafters[0].mask, set);
  EXPECT_TRUE(drafters[0].expected.is_measured);
}

TEST(AutoPolicy, DoesNotTakeAPartInFewerBitsForEitherAlone) {
  const PolicyFile policy =
      policy_of({{"mix:mask=exit,exit=8,length=fixed,gamma=4,weights=q4_0", {measured_of(0.7, 0.2, 4)}}});
  const auto known = with_policy(parsed("auto"), policy, 12);
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->text("exits"), "8");
  EXPECT_EQ(known->text("expected"), "");
}

// The rule starts from measurements on other texts, so it need not try the worse parts.
TEST(AutoPolicy, LetsTheRuleBeginWithTheBetterPart) {
  constexpr std::size_t tokens = 80;
  double knowing_time = 0.0;
  double guessing_time = 0.0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const World world{.step_costs = {0.7, 0.7, 0.7, 0.3},
                      .drafts =
                          [seed](std::int32_t drafter, std::size_t n) {
                            std::mt19937 random(seed * 1000 + static_cast<std::uint32_t>(n * 7) +
                                                static_cast<std::uint32_t>(drafter));
                            return JudgedToken{0.8, random() % 100 < (drafter < 3 ? 30U : 93U)};
                          },
                      .next = random_text(12 + seed)};
    AutoOptions told = options_for(world);
    for (ExpectedDrafter& drafter : told.drafters)
      drafter = {.step_cost = 0.7, .acceptance = 0.3, .is_measured = true};
    told.drafters.back() = {.step_cost = 0.3, .acceptance = 0.93, .is_measured = true};
    AutoRule knowing(told);
    AutoRule guessing(options_for(world));
    knowing_time += decode(knowing, world, tokens).time;
    guessing_time += decode(guessing, world, tokens).time;
  }
  EXPECT_LT(knowing_time, 0.95 * guessing_time);
}

TEST(AutoPolicy, ThatIsWrongMakesTheRuleLittleSlowerThanVanilla) {
  const World world{.step_costs = {0.8}, .drafts = right_with({0.2}), .next = random_text(13)};
  AutoOptions misled = options_for(world);
  misled.drafters = {{.step_cost = 0.1, .acceptance = 0.98, .is_measured = true}};
  AutoRule rule(misled);
  const Sums sums = decode(rule, world, 3000);
  EXPECT_LT(sums.time, 1.02 * sums.tokens + 3.0 + 6.0);
}

}  // namespace
}  // namespace draftscope::speculation
