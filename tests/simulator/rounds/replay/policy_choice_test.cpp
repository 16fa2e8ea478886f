// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/speculation/published_models.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "rounds/replay/policy_choice.h"
#include "rounds/replay/priced_guard.h"

namespace draftscope::simulator {

namespace {

using testing::HasSubstr;

constexpr ReplayModel model{.n_layers = 8, .head_in_layers = 1.0};

std::string error_of(const std::string& specification) {
  const auto choice = policy_of_specification(specification, model);
  return choice ? "" : choice.error().message;
}

/// The first round that a specification plans.
PlannedRound planned(const std::string& specification) {
  ShadowTable table{.n_layers = 8, .prompt_tokens = 1, .first = 2, .text = {1, 2}};
  auto choice = policy_of_specification(specification, model);
  PlannedRound plan;
  if (!choice || choice->policy == nullptr) return plan;
  choice->policy->begin_request(table);
  choice->policy->plan({&table, 1, 10}, plan);
  return plan;
}

TEST(PolicyChoice, TakesSpecificationsAndTheEnginesDefaults) {
  EXPECT_EQ(planned("layerskip").exit, 2);  // The default is a quarter of the layers.
  EXPECT_EQ(planned("layerskip").length, 6);
  EXPECT_EQ(planned("layerskip:exit=5,gamma=9").exit, 5);
  EXPECT_EQ(planned("layerskip:exit=5,gamma=9").length, 9);
  EXPECT_EQ(planned("dv").length, 18);
  EXPECT_EQ(planned("dv").threshold, 0.6);
  EXPECT_EQ(planned("mix:stop=threshold,threshold=0.25").threshold, 0.25);
  EXPECT_EQ(planned("mix:stop=threshold,threshold=0.25").length, 6);
  EXPECT_EQ(planned("vanilla").exit, 0);
}

TEST(PolicyChoice, ReadsWhatARunRecorded) {
  ShadowTable table{.n_layers = 8, .prompt_tokens = 1, .first = 2, .text = {1, 2}};
  const traces::Run run{.id = 3,
                        .strategy = "tuned",
                        .specification = "tuned:policy=found.json",
                        .parameters = R"({"policy":"found.json","strategy":"fs:exit=3",)"
                                      R"("parameters":{"exit":3,"gamma":7,"least":1,"longest":20}})"};
  auto choice = policy_of_run(run, model);
  ASSERT_TRUE(choice) << choice.error().message;
  ASSERT_NE(choice->policy, nullptr);
  PlannedRound plan;
  choice->policy->begin_request(table);
  choice->policy->plan({&table, 1, 10}, plan);
  EXPECT_EQ(plan.exit, 3);
  EXPECT_EQ(plan.length, 7);
  EXPECT_THAT(policy_of_run({.id = 3, .strategy = "layerskip", .parameters = "[1"}, model).error().message,
              HasSubstr("expected a JSON object"));
  EXPECT_THAT(policy_of_run({.id = 3, .strategy = "tuned", .parameters = "{}"}, model).error().message,
              HasSubstr("run 3"));
}

TEST(PolicyChoice, SaysWhyThereIsNone) {
  for (const char* specification :
       {"swift", "clasp:skip=3", "draft-verify:skip-set=a.json", "two-model:model=b", "jacobi", "lookahead",
        "prompt-lookup", "mix:mask=swift", "mix:mask=clasp,shape=chain", "mix:mask=swift,shape=tree"}) {
    const auto choice = policy_of_specification(specification, model);
    ASSERT_TRUE(choice) << specification << ": " << choice.error().message;
    EXPECT_EQ(choice->policy, nullptr) << specification;
    EXPECT_EQ(choice->status, AnswerStatus::approximate) << specification;
    EXPECT_FALSE(choice->reason.empty()) << specification;
  }
}

TEST(PolicyChoice, RefusesWhatTheEngineDoes) {
  EXPECT_THAT(error_of("layerskipp"), HasSubstr("unknown name 'layerskipp', expected one of: vanilla"));
  EXPECT_THAT(error_of("layerskip:gama=3"),
              HasSubstr("unknown parameter 'gama', expected one of: exit, weights, gamma"));
  EXPECT_THAT(error_of("layerskip:gamma=256"),
              HasSubstr("gamma is '256', expected an integer from 0 to 255"));
  EXPECT_THAT(error_of("layerskip:exit=8"), HasSubstr("exit is '8', expected an integer from 1 to 7"));
  EXPECT_THAT(error_of("dv:beta1=nan"), HasSubstr("expected a number from 0 to 1"));
  EXPECT_THAT(error_of("dv:rule=mine"), HasSubstr("expected one of: paper, code, del"));
  EXPECT_THAT(error_of("fs:gamma=1,gamma=2"), HasSubstr("given twice"));
  EXPECT_THAT(error_of("fs:gamma"), HasSubstr("expected key=value"));
  EXPECT_THAT(error_of("mix:mask=none"), HasSubstr("mask is 'none', expected one of: full, exit"));
  EXPECT_THAT(error_of("del\n"), HasSubstr("control character"));
  const auto one_layer = policy_of_specification("layerskip", {.n_layers = 1});
  EXPECT_FALSE(one_layer);
}

TEST(TextChoice, SampledTextsAreNotEveryPolicys) {
  traces::Recording recording;
  EXPECT_EQ(text_choice(recording).status, AnswerStatus::exact);
  recording.meta["temperature"] = "0";
  EXPECT_EQ(text_choice(recording).status, AnswerStatus::exact);
  recording.meta["temperature"] = "0.7";
  EXPECT_EQ(text_choice(recording).status, AnswerStatus::invalid);
  recording.meta["coupling"] = "gumbel";
  EXPECT_EQ(text_choice(recording).status, AnswerStatus::approximate);
}

PriceMap h100_prices() {
  const CostModel costs = cost_model_of(*find_gpu("H100-SXM5-80GB"),
                                        *speculation::find_model_shape("Llama-3-8B"), WeightType::bf16);
  return PriceMap::make(costs, fitted_scenario(costs)).value();
}

/// One request of 100 tokens in so many vanilla rounds.
std::vector<RoundStatistics> rounds_of(std::int64_t rounds) {
  RoundStatistics statistics;
  statistics.rounds = rounds;
  statistics.tokens = 100;
  statistics.target_steps = {.passes = rounds, .context = 50 * rounds};
  return {statistics};
}

TEST(NoisyClock, RepeatsStretchesOfTheNoise) {
  std::vector<double> noise;
  for (int i = 0; i < 400; ++i) noise.push_back(1.0 + i);
  NoisyClock clock(noise);
  NoisyClock again(noise);
  NoisyClock other(noise, 1);
  int followed = 0;
  int equal = 0;
  double before = 0.0;
  constexpr int rounds = 16000;
  for (int i = 0; i < rounds; ++i) {
    const double factor = clock.next();
    ASSERT_EQ(factor, again.next());
    equal += factor == other.next() ? 1 : 0;
    followed += factor == before + 1.0 ? 1 : 0;
    before = factor;
  }
  EXPECT_NEAR(followed, rounds * 15.0 / 16.0, rounds / 50.0);
  EXPECT_LT(equal, rounds / 20);
  NoisyClock quiet({});
  EXPECT_EQ(quiet.next(), 1.0);
}

TEST(FarthestCase, IsTheReplayWhoseTimeDiffersMost) {
  const PriceMap prices = h100_prices();
  const MeanPrices mean = [&](std::int32_t /*widths*/) { return prices.mean(); };
  std::int64_t calls = 0;
  std::set<double> steps;
  const auto farthest = farthest_case(prices, mean, {}, rounds_of(50), [&](const Prices& drawn, NoisyClock) {
    steps.insert(drawn.target_step.ns);
    ++calls;
    return Result<std::vector<RoundStatistics>>(rounds_of(calls == 7 ? 30 : 50 + calls % 5));
  });
  ASSERT_TRUE(farthest);
  ASSERT_EQ(farthest->size(), 1U);
  EXPECT_EQ(farthest->front().rounds, 30);
  EXPECT_EQ(calls, static_cast<std::int64_t>(clocked_replays));
  EXPECT_EQ(steps.size(), clocked_replays) << "each replay has prices of its own";
}

TEST(FarthestCase, IsNoneWhereEveryReplayIsTheSame) {
  const PriceMap prices = h100_prices();
  const MeanPrices mean = [&](std::int32_t /*widths*/) { return prices.mean(); };
  const auto farthest =
      farthest_case(prices, mean, {}, rounds_of(50), [](const Prices&, NoisyClock) { return rounds_of(50); });
  ASSERT_TRUE(farthest);
  EXPECT_TRUE(farthest->empty());
}

}  // namespace

}  // namespace draftscope::simulator
