// SPDX-License-Identifier: GPL-3.0-or-later
// Answers about other machines: their content besides the speedup, and when there is none.
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advice/learnt.h"
#include "rounds/priced_scenario.h"

namespace draftscope::simulator {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

constexpr const char* drafting = "layerskip:exit=3,gamma=4,verify=all-layers";

Result<Answer> ask_there(const Learnt& learnt, const Machine& machine, bool with_budget = false) {
  const auto rounds = rounds_at_target_exit(learnt.what_if(), drafting, machine.scenario.shape);
  EXPECT_TRUE(rounds) << rounds.error().message;
  return ask(learnt.what_if().costs().model, *rounds, machine, {.draws = 400}, with_budget);
}

double relative_width(const Answer& answer) {
  const auto interval = answer.rate.interval_95();
  EXPECT_TRUE(interval);
  if (!interval) return 0.0;
  EXPECT_LT(interval->low, answer.tokens_per_second);
  EXPECT_GT(interval->high, answer.tokens_per_second);
  EXPECT_NEAR(answer.rate.min_drafted.value / answer.tokens_per_second, 1.0, 1e-9);
  return (interval->high - interval->low) / answer.tokens_per_second;
}

TEST(Elsewhere, TokensPerSecondCarryTheGpusAndTheEnginesSpread) {
  const Learnt learnt({.skill = 0.7});
  Machine fitted = on_gpu(learnt, "H200-SXM5-141GB", "Llama-3-8B");
  const auto answer = ask_there(learnt, fitted, true);
  ASSERT_TRUE(answer) << answer.error().message;
  const auto unfitted = ask_there(learnt, on_gpu(learnt, "MI300X", "Llama-3-8B"));
  ASSERT_TRUE(unfitted) << unfitted.error().message;
  EXPECT_LT(relative_width(*answer), relative_width(*unfitted));
  ASSERT_TRUE(answer->budget);
  EXPECT_GT(answer->budget->transfer, 0.0);
  EXPECT_EQ(answer->budget->fit, 0.0);
  fitted.scenario.host = HostTime{.name = "unsure", .min_share = 0.0, .max_share = 0.8, .is_per_pass = true};
  EXPECT_GT(relative_width(ask_there(learnt, fitted).value()), relative_width(*answer));
}

TEST(Elsewhere, WhatDoesNotFitOrRunIsRefusedAndWhatWasRecordedIsNot) {
  const Learnt learnt({.skill = 0.7});
  const auto large = ask_there(learnt, on_gpu(learnt, "RTX 4090", "Llama-3-70B"));
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().message, HasSubstr("does not fit"));
  Machine old = on_gpu(learnt, "A100-SXM4-80GB", "Llama-3-8B");
  old.scenario.weights = WeightType::fp8;
  EXPECT_THAT(ask_there(learnt, old).error().message, HasSubstr("no fp8 arithmetic"));
  const auto own = ask_there(learnt, learnt.machine());
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_FALSE(own->memory);
  // The memory of the recorded processor is unknown.
  Machine here = learnt.machine();
  here.scenario.shape = speculation::find_model_shape("Llama-3-70B").value();
  const auto unknown = ask_there(learnt, here);
  ASSERT_TRUE(unknown) << unknown.error().message;
  EXPECT_TRUE(unknown->memory);
  EXPECT_FALSE(unknown->usable_memory);
  EXPECT_THAT(unknown->cost_notes, Contains(testing::Field(&CostNote::text, HasSubstr("is not known"))));
}

TEST(Elsewhere, DraftsOfNoFewerBitsThanTheModelAreRefusedByName) {
  using Format = speculation::WeightFormat;
  const Learnt learnt({.skill = 0.7});
  const CostModel& costs = learnt.what_if().costs().model;
  Scenario scenario = on_gpu(learnt, "RTX 4090", "Llama-3-8B").scenario;
  const auto check = [&](WeightType model, Format draft) {
    scenario.weights = model;
    scenario.drafts = {{.attention = 4, .mlp = 4, .weights = draft}};
    return check_draft_weights(costs, scenario);
  };
  for (const Format draft : {Format::fp8, Format::q8_0}) {
    const auto refused = check(WeightType::fp8, draft);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message,
                HasSubstr("draft weights are " + std::string(weight_type_name(weight_type_of(draft)))));
  }
  EXPECT_TRUE(check(WeightType::fp8, Format::q4_0));
  EXPECT_TRUE(check(WeightType::fp16, Format::fp8));
  EXPECT_FALSE(check(WeightType::int4, Format::q4_0));
  // What was recorded may stay, and so may drafts on the model's own weights.
  EXPECT_TRUE(check(costs.weights, Format::q8_0));
  scenario.weights = WeightType::int4;
  scenario.drafts = {{.attention = 4, .mlp = 4}};
  EXPECT_TRUE(check_draft_weights(costs, scenario));
}

TEST(Elsewhere, ExitsOfTheTargetArePricedThereAndNamed) {
  const Learnt learnt({.skill = 0.7});
  const ModelShape asked = speculation::find_model_shape("Llama-3-8B").value();
  const auto relative =
      for_shape(learnt.what_if().rounds(drafting).value(), learnt.what_if().recorded_scenario().shape, asked);
  EXPECT_THAT(relative.notes, Contains(HasSubstr("exit 3 of 8 layers → 12 of 32")));
  const auto own =
      rounds_at_target_exit(learnt.what_if(), "layerskip:exit=14,gamma=4,verify=all-layers", asked);
  ASSERT_TRUE(own) << own.error().message;
  EXPECT_EQ(own->strategy, "layerskip:exit=14,gamma=4,verify=all-layers");
  EXPECT_THAT(own->notes, Contains(HasSubstr("→ 14 of 32")));
  for (const char* beyond : {"layerskip:exit=32,gamma=4", "layerskip:exit=0,gamma=4"}) {
    const auto refused = rounds_at_target_exit(learnt.what_if(), beyond, asked);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("from 1 to 31"));
  }
}

}  // namespace
}  // namespace draftscope::simulator
