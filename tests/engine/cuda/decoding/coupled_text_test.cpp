// SPDX-License-Identifier: GPL-3.0-or-later
// With coupled choices a sampled text depends on the seed and the target alone. It depends neither on the
// draft and its length, nor on whether the device runs rounds by itself or the host drives them.

#include <draftscope/engine/decode.h>
#include <draftscope/engine/strategy.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counted_drafts.h"
#include "cuda_shapes.h"
#include "random_decoding.h"
#include "step_by_step.h"

namespace draftscope::engine::test {
namespace {

/// Every exit with two lengths, sets, and strategies whose rounds the host drives: trees, guesses, exits that
/// change between rounds, states for DEL and CLaSp.
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
  CountedDrafts all;
  for (int round = 0; round < 3; ++round) {
    const RandomDecoding decoding(random, round, 90, 20, 3);
    const DecodeRequest request{.prompt = decoding.prompt,
                                .max_new_tokens = 12,
                                .sampling = random_sampling(random, decoding.shape.vocab, true)};
    const auto alone = decoding.make(2, 80);
    StepByStep led(decoding.make(2, 80));
    ASSERT_TRUE(alone->has_chain_rounds());
    const std::vector<std::int32_t> vanilla = text_under(led, "vanilla", request);
    ASSERT_EQ(vanilla.size(), 12U);
    for (const std::string& specification : strategies(decoding.shape.n_layers)) {
      SCOPED_TRACE(specification);
      EXPECT_EQ(text_under(*alone, specification, request, all), vanilla);
    }
  }
  EXPECT_GT(all.accepted, 50);
  EXPECT_GT(all.drafted - all.accepted, 50);
}

}  // namespace
}  // namespace draftscope::engine::test
