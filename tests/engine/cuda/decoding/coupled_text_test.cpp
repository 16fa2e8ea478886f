// SPDX-License-Identifier: GPL-3.0-or-later
// With coupled choices a sampled text is a function of the seed and the target alone: whatever drafts,
// however far, and whether the device runs its rounds by itself or the host leads them.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "counted_drafts.h"
#include "cuda_shapes.h"
#include "step_by_step.h"
#include "tested_backend.h"

namespace draftscope::engine::test {
namespace {

/// Every exit with two lengths, sets, and strategies whose rounds the host leads: trees, guesses, other
/// exits from round to round, states for DEL and CLaSp.
std::vector<std::string> strategies(std::int32_t n_layers) {
  std::vector<std::string> all = {"vanilla",
                                  "draft-verify:skip-attention=1,skip-mlp=0+1,gamma=5",
                                  "swift:gamma=4",
                                  "clasp:gamma=4,interval=2,skip=1",
                                  "del:most=6",
                                  "mix:mask=exit,shape=tree,gamma=3,exit=1",
                                  "mix:mask=exit,verify=above-exit,gamma=3,exit=2",
                                  "prompt-lookup",
                                  "jacobi"};
  for (std::int32_t exit = 1; exit < n_layers; ++exit)
    for (const int gamma : {1, 7}) all.push_back(fmt::format("layerskip:exit={},gamma={}", exit, gamma));
  return all;
}

TEST(CoupledText, IsTheSameUnderEveryStrategyOnTheDeviceAndLedByTheHost) {
  Random random(61);
  std::int32_t drafted = 0;
  std::int32_t accepted = 0;
  for (int round = 0; round < 3; ++round) {
    const TestedBackend tested = tested_backends().at(static_cast<std::size_t>(round % 2));
    speculation::ModelShape shape = tested.shape(random);
    shape.sliding_window = 0;
    shape.n_layers = 3;
    shape.vocab = pick(random, 3, 90);
    const Checkpoint checkpoint = random_checkpoint(shape, tested.dtype, random());
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(pick(random, 1, 20)));
    for (std::int32_t& token : prompt) token = pick(random, 0, shape.vocab - 1);
    SamplingOptions sampling{.temperature = std::uniform_real_distribution<double>(0.3, 1.5)(random),
                             .coupled = true};
    if (chance(random, 0.5)) sampling.top_k = pick(random, 1, shape.vocab + 2);
    if (chance(random, 0.5)) sampling.top_p = std::uniform_real_distribution<double>(0.2, 1.0)(random);
    const DecodeRequest request{.prompt = prompt, .max_new_tokens = 12, .sampling = sampling};
    const std::uint64_t seed = random();
    const auto text = [&](Backend& backend, const std::string& specification, CountedDrafts& counted) {
      auto strategy = make_strategy(specification, shape);
      EXPECT_TRUE(strategy) << strategy.error().message;
      if (!strategy) return std::vector<std::int32_t>();
      SeededChooser chooser(seed, 3);
      auto decoded = decode(backend, *strategy->strategy, request, chooser, counted);
      EXPECT_TRUE(decoded) << decoded.error().message;
      return decoded ? decoded->tokens : std::vector<std::int32_t>();
    };
    const auto alone = tested.make(checkpoint, 2, 80);
    StepByStep led(tested.make(checkpoint, 2, 80));
    ASSERT_TRUE(alone->has_chain_rounds());
    CountedDrafts unused;
    const std::vector<std::int32_t> vanilla = text(led, "vanilla", unused);
    ASSERT_EQ(vanilla.size(), 12U);
    for (const std::string& specification : strategies(shape.n_layers)) {
      SCOPED_TRACE(specification);
      CountedDrafts counted;
      EXPECT_EQ(text(*alone, specification, counted), vanilla);
      drafted += counted.drafted;
      accepted += counted.accepted;
    }
  }
  EXPECT_GT(accepted, 50);
  EXPECT_GT(drafted - accepted, 50);
}

}  // namespace
}  // namespace draftscope::engine::test
