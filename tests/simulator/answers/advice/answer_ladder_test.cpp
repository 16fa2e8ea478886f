// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/speculation/published_models.h>
#include <gtest/gtest.h>

#include "learnt.h"

namespace draftscope::simulator {
namespace {

std::vector<Machine> machines(const Learnt& learnt) {
  std::vector<Machine> all{learnt.machine(), learnt.machine(), learnt.machine(), learnt.machine()};
  all[1].scenario.batch = 8;
  all[2].scenario.gpu = find_gpu("H200-SXM5-141GB").value();
  all[3].scenario = all[2].scenario;
  all[3].scenario.shape = speculation::find_model_shape("Llama-3-8B").value();
  all[3].scenario.regime = Regime::eager_python;
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
      const Answer answer = ask(learnt.what_if().costs().model, rounds, machine, {.draws = 200}).value();
      EXPECT_NEAR(ladder->back().speedup, answer.speedup.min_drafted.total.value, 1e-9) << strategy;
    }
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

}  // namespace
}  // namespace draftscope::simulator
