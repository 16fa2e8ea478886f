// SPDX-License-Identifier: GPL-3.0-or-later
// Asks for guard= on recordings without it.
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "answers/advice/learnt.h"
#include "rounds/replay/priced_guard.h"

namespace draftscope::simulator {
namespace {

using testing::Contains;
using testing::HasSubstr;

ShadowedRecording texts(double skill) {
  return {.prompts = 20, .tokens = 60, .skill = skill};
}

TEST(GuardedRounds, LoseLittleWhereTheStrategyLosesMuch) {
  const Learnt learnt(texts(0.0));
  EXPECT_LT(speedup(learnt, "layerskip:exit=5,gamma=8"), 0.6);
  EXPECT_GT(speedup(learnt, "layerskip:exit=5,gamma=8,guard=0.98"), 0.93);
  EXPECT_GT(speedup(learnt, "layerskip:exit=5,gamma=8,guard=0.98"),
            speedup(learnt, "layerskip:exit=5,gamma=8,guard=0.8"));
}

TEST(GuardedRounds, AreNearlyTheStrategysWhereItPays) {
  const Learnt learnt(texts(1.2));
  const double alone = speedup(learnt, "layerskip:exit=3,gamma=4");
  ASSERT_GT(alone, 1.0);
  EXPECT_NEAR(speedup(learnt, "layerskip:exit=3,gamma=4,guard=0.98"), alone, 0.1 * alone);
}

TEST(GuardedRounds, DecodeTheRecordedTexts) {
  const Learnt learnt(texts(0.5));
  for (const char* const strategy :
       {"layerskip:exit=3,gamma=4,guard=0.95", "prompt-lookup:guard=0.95", "suffix-decoding:guard=0.95"}) {
    const auto rounds = learnt.what_if().rounds(strategy);
    ASSERT_TRUE(rounds) << rounds.error().message;
    EXPECT_EQ(rounds->setting.status, AnswerStatus::approximate);
    EXPECT_THAT(rounds->notes, Contains(HasSubstr("rounds are vanilla")));
    ASSERT_EQ(rounds->setting.max_drafted.size(), rounds->vanilla.size()) << "the case of a noisy clock";
    for (std::size_t i = 0; i < rounds->vanilla.size(); ++i) {
      EXPECT_EQ(rounds->setting.min_drafted[i].tokens, rounds->vanilla[i].passes) << strategy;
      EXPECT_EQ(rounds->setting.max_drafted[i].tokens, rounds->vanilla[i].passes) << strategy;
    }
  }
}

TEST(FarthestCase, IsPricedAsWideAsItsRounds) {
  const Learnt learnt(texts(0.5));
  const CostModel& costs = learnt.what_if().costs().model;
  const auto priced_up_to = [&](std::int32_t widths) {
    Scenario scenario = fitted_scenario(costs);
    scenario.widths = widths;
    return PriceMap::make(costs, scenario).value();
  };
  const auto of_width = [](std::size_t rows) {
    DraftStatistics draft{.exit = 1};
    draft.verify.resize(rows + 1);
    draft.verify[rows].passes = 1;
    return std::vector<RoundStatistics>{{.tokens = 2, .rounds = 1, .drafts = {draft}}};
  };
  std::int32_t asked = 0;
  const auto farthest = farthest_case(
      priced_up_to(4),
      [&](std::int32_t widths) {
        asked = widths;
        return priced_up_to(widths).mean();
      },
      {}, of_width(3), [&](const Prices&, NoisyClock) { return of_width(40); });
  ASSERT_TRUE(farthest) << farthest.error().message;
  EXPECT_EQ(*farthest, of_width(40));
  EXPECT_GE(asked, 41);
}

/// Either decision of the guard may be the truth, and each has errors of its own.
TEST(GuardedRounds, HaveAnIntervalThatEnclosesThatOfEachCase) {
  const Learnt learnt(texts(0.5));
  const CostModel& costs = learnt.what_if().costs().model;
  const Machine machine{.name = "this machine", .scenario = fitted_scenario(costs)};
  const auto rounds = learnt.what_if().rounds("prompt-lookup:guard=0.95");
  ASSERT_TRUE(rounds && !rounds->setting.max_drafted.empty());
  const auto both = ask(costs, *rounds, machine);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_EQ(both->status, AnswerStatus::approximate);
  const Interval of_both = both->speedup.interval_95().value();
  for (const auto& side : {rounds->setting.min_drafted, rounds->setting.max_drafted}) {
    StrategyRounds alone = *rounds;
    alone.setting.min_drafted = side;
    alone.setting.max_drafted.clear();
    const auto answer = ask(costs, alone, machine);
    ASSERT_TRUE(answer) << answer.error().message;
    const Interval of_one = answer->speedup.interval_95().value();
    EXPECT_LE(of_both.low, of_one.low * (1 + 1e-9));
    EXPECT_GE(of_both.high, of_one.high * (1 - 1e-9));
  }
}

TEST(GuardedRounds, AreRefusedWhereTimesOrRoundsAreNotTold) {
  const Learnt shadowed(texts(0.5));
  ShadowedRecording what = texts(0.5);
  what.with_shadow = false;
  const Learnt plain(what);
  for (const auto& [learnt, strategy] :
       {std::pair(&shadowed, "del:guard=0.9"), std::pair(&plain, "layerskip:exit=3,gamma=2,guard=0.9"),
        std::pair(&shadowed, "swift:guard=0.9")}) {
    const auto rounds = learnt->what_if().rounds(strategy);
    ASSERT_FALSE(rounds) << strategy;
    EXPECT_THAT(rounds.error().message, testing::Not(HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace draftscope::simulator
