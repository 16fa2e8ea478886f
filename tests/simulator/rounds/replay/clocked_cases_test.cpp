// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/clocked_cases.h"

#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/speculation/published_models.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace draftscope::simulator {
namespace {

PriceMap h100_prices() {
  const CostModel model = cost_model_of(*find_gpu("H100-SXM5-80GB"),
                                        *speculation::find_model_shape("Llama-3-8B"), WeightType::bf16);
  return PriceMap::make(model, fitted_scenario(model)).value();
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
  std::int64_t calls = 0;
  std::set<double> steps;
  const auto farthest = farthest_case(prices, {}, rounds_of(50), [&](const Prices& drawn, NoisyClock) {
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
  const auto farthest = farthest_case(h100_prices(), {}, rounds_of(50), [](const Prices&, NoisyClock) {
    return Result<std::vector<RoundStatistics>>(rounds_of(50));
  });
  ASSERT_TRUE(farthest);
  EXPECT_TRUE(farthest->empty());
}

}  // namespace
}  // namespace draftscope::simulator
