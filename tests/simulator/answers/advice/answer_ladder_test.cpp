// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "learnt.h"

namespace draftscope::simulator {

namespace {

std::vector<Machine> machines(const Learnt& learnt) {
  std::vector<Machine> all{learnt.machine(), learnt.machine(), on_gpu(learnt, "H200-SXM5-141GB"),
                           on_gpu(learnt, "H200-SXM5-141GB", "Llama-3-8B"),
                           on_gpu(learnt, "H100-SXM5-80GB", "Llama-3-70B")};
  all[1].scenario.batch = 8;
  all[3].scenario.regime = Regime::eager_python;
  // Few GB are left; the model would not fit with three vocabularies.
  all[4].scenario.weights = WeightType::fp8;
  all[4].scenario.context = 6000.0;
  return all;
}

TEST(AnswerLadder, EndsAtTheAnswersSpeedup) {
  const Learnt learnt({.skill = 0.9});
  for (const char* strategy : {"layerskip:exit=3,gamma=4", "layerskip:exit=2,gamma=3,verify=above-exit",
                               "vanilla", "mix:stop=threshold,exit=4,gamma=6,threshold=0.6"})
    for (const Machine& machine : machines(learnt)) {
      const StrategyRounds rounds = for_shape(learnt.what_if().rounds(strategy).value(),
                                              learnt.what_if().costs().model.shape, machine.scenario.shape);
      const auto ladder = answer_ladder(learnt.what_if().costs().model, rounds, machine);
      ASSERT_TRUE(ladder) << strategy << ": " << ladder.error().message;
      EXPECT_NEAR(ladder->back().speedup, speedup(learnt, rounds, machine), 1e-9) << strategy;
    }
}

// Prices are of all runs' passes, and so none is right where the time of a pass depends on its text.
TEST(AnswerLadder, EndsAtTheMeasuredSpeedupOfARecordedRun) {
  const Learnt learnt({.skill = 0.9, .odd_draft_factor = 1.4, .odd_step_factor = 1.1});
  const CostModel& model = learnt.what_if().costs().model;
  const std::vector<MeasuredSetting> runs = measured_settings(learnt.recording());
  ASSERT_EQ(runs.size(), 2U);
  for (const MeasuredSetting& run : runs) {
    const StrategyRounds rounds = learnt.what_if().rounds(run.strategy).value();
    const Ladder ladder = answer_ladder(model, rounds, learnt.machine()).value();
    EXPECT_EQ(ladder.back().rung, Rung::recorded_run);
    EXPECT_NEAR(ladder.back().speedup / run.speedup, 1.0, 1e-6) << run.strategy;
    const Prices prices = answer_prices(model, rounds, learnt.machine()).value();
    const double modelled =
        vanilla_time_ns(sum_of(rounds.vanilla), prices) / time_ns(sum_of(rounds.setting.min_drafted), prices);
    EXPECT_NEAR(ladder[ladder.size() - 2].speedup, modelled, 1e-9) << "overhead";
  }
  const StrategyRounds replayed = learnt.what_if().rounds("layerskip:exit=2,gamma=3").value();
  EXPECT_EQ(answer_ladder(model, replayed, learnt.machine())->back().rung, Rung::overhead);
  const StrategyRounds elsewhere = learnt.what_if().rounds(runs[0].strategy).value();
  EXPECT_EQ(answer_ladder(model, elsewhere, machines(learnt)[2])->back().rung, Rung::overhead);
}

TEST(AnswerLadder, StartsAtWhatLayersCount) {
  const Learnt learnt({});
  const StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  const auto ladder = answer_ladder(learnt.what_if().costs().model, rounds, learnt.machine());
  ASSERT_TRUE(ladder);
  double tokens = 0.0;
  double layers = 0.0;
  for (const RoundStatistics& request : rounds.setting.min_drafted) {
    tokens += static_cast<double>(request.tokens);
    layers += static_cast<double>(8 * request.rounds);
    for (const DraftStatistics& draft : request.drafts)
      layers += static_cast<double>(draft.exit * draft.steps.passes);
  }
  EXPECT_NEAR(ladder->front().speedup, 8.0 * tokens / layers, 1e-9);
}

// The head of the planted machine takes 4 µs of launch and 0.05 ns per byte, once per pass.
TEST(PassParts, FindTheHeadAndWhatElseAPassTakes) {
  const Learnt learnt({});
  const StrategyRounds rounds = learnt.what_if().rounds("layerskip:exit=3,gamma=4").value();
  const CostModel& model = learnt.what_if().costs().model;
  const auto parts = pass_parts(model, rounds, learnt.machine());
  ASSERT_TRUE(parts) << parts.error().message;
  const double step_3 = answer_prices(model, rounds, learnt.machine())->drafts[3].step.ns;
  const double step_6 = answer_prices(model, rounds, learnt.machine())->drafts[6].step.ns;
  const double fixed = 2.0 * step_3 - step_6;  // All layers are equal.
  EXPECT_GT(parts->head_ns, 0.0);
  EXPECT_NEAR(parts->head_ns + parts->choice_ns, fixed, 0.05 * fixed);
}

RoundCost random_cost(std::mt19937& random, double steps) {
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  return {steps, unit(random), 0.5 + unit(random), 0.2 * unit(random)};
}

TEST(BreakEven, GivesASpeedupOfOneInTheClosedForms) {
  std::mt19937 random(11);
  int with_alpha = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const std::int32_t gamma = 1 + static_cast<std::int32_t>(random() % 12);
    const RoundCost cost = random_cost(random, gamma);
    const auto found = break_even(cost, gamma);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_NEAR(round_speedup(found->mean_accepted_length, cost).value(), 1.0, 1e-12);
    if (found->mean_accepted_length > 1.0) {
      EXPECT_NEAR(1.0 + found->acceptance_rate * gamma, found->mean_accepted_length, 1e-12);
    }
    if (!found->alpha) {
      EXPECT_LT(round_speedup(gamma + 1.0, cost).value(), 1.0) << "not even all accepted would pay";
      continue;
    }
    const double speedup = round_speedup(expected_tokens(*found->alpha, gamma).value(), cost).value();
    if (*found->alpha > 0.0) {
      ++with_alpha;
      EXPECT_NEAR(speedup, 1.0, 1e-9);
    } else {
      EXPECT_GE(speedup, 1.0) << "the bonus token alone pays";
    }
  }
  EXPECT_GT(with_alpha, 100);
}

TEST(BreakEven, RefusesInOneLine) {
  EXPECT_FALSE(break_even({.steps_per_round = 0.0, .c = 0.2}));
  EXPECT_FALSE(break_even({.steps_per_round = 2.0, .c = -0.2}));
  EXPECT_FALSE(break_even({.steps_per_round = 2.0, .c = 0.2}, 0));
}

}  // namespace

}  // namespace draftscope::simulator
