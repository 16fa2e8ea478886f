// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/strategy.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace draftscope::engine {
namespace {

speculation::ModelShape shape_of(std::int32_t n_layers) {
  speculation::ModelShape shape;
  shape.n_layers = n_layers;
  return shape;
}

TEST(MakeStrategy, FillsInEveryDefaultAndSaysSo) {
  const auto strategy = make_strategy("layerskip", shape_of(12));
  ASSERT_TRUE(strategy) << strategy.error().message;
  EXPECT_EQ(strategy->specification, "layerskip");
  const auto parameters = nlohmann::json::parse(strategy->parameters);
  EXPECT_EQ(parameters, (nlohmann::json{{"acceptance", "token"},
                                        {"exit", 3},
                                        {"gamma", 6},
                                        {"guard", 0},
                                        {"verify", "above-exit"},
                                        {"weights", "as-held"}}));
}

TEST(MakeStrategy, PlansAnEarlyExitOfTheGivenLength) {
  auto strategy = make_strategy("layerskip:exit=5,gamma=4", shape_of(12));
  ASSERT_TRUE(strategy);
  const RoundPlan plan = strategy->strategy->plan({});
  EXPECT_EQ(*plan.mask, speculation::SublayerMask::early_exit(12, 5));
  EXPECT_EQ(plan.draft_length, 4);
}

struct Refusal {
  const char* specification;
  const char* message;
};

TEST(MakeStrategy, RefusesWhatItDoesNotKnow) {
  const Refusal refusals[] = {
      {"", "unknown name ''"},
      {"turbo", "unknown name 'turbo', expected one of: vanilla, layerskip"},
      {"vanilla:gamma=3", "unknown parameter 'gamma', expected one of: none"},
      {"layerskip:speed=9", "unknown parameter 'speed', expected one of: exit, weights, gamma, verify"},
      {"layerskip:exit=3,exit=4", "'exit' is given twice"},
      {"layerskip:exit", "found 'exit', expected key=value"},
      {"layerskip:=3", "found '=3', expected key=value"},
      {"layerskip:exit=", "exit is '', expected an integer from 1 to 11"},
      {"layerskip:exit=0", "exit is '0', expected an integer from 1 to 11"},
      {"layerskip:exit=12", "exit is '12', expected an integer from 1 to 11"},
      {"layerskip:exit=3.5", "exit is '3.5'"},
      {"layerskip:gamma=-1", "gamma is '-1', expected an integer from 0 to 255"},
      {"layerskip:gamma=99999999999999999999", "gamma is"},
      {"layerskip:verify=some", "verify is 'some', expected one of: all-layers, above-exit"},
  };
  for (const Refusal& refusal : refusals) {
    const auto strategy = make_strategy(refusal.specification, shape_of(12));
    ASSERT_FALSE(strategy) << refusal.specification;
    EXPECT_THAT(strategy.error().message, testing::HasSubstr(refusal.message)) << refusal.specification;
    EXPECT_THAT(strategy.error().message, testing::Not(testing::HasSubstr("\n")));
  }
  EXPECT_FALSE(make_strategy("layerskip", shape_of(1)));
}

}  // namespace
}  // namespace draftscope::engine
