// SPDX-License-Identifier: GPL-3.0-or-later
// Text of a model of any family equals vanilla text on the real backend, bit for bit, and sampled text
// depends on the seed alone. walks_test.cpp draws other models and settings.

#include <gtest/gtest.h>

#include "decoded.h"
#include "random_strategy.h"

namespace draftscope::engine {
namespace {

TEST(LosslessOnRandomModels, GreedyTextOfEveryFamilyEqualsVanilla) {
  std::mt19937 random(27);
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    const Checkpoint checkpoint = random_checkpoint(random, family);
    const std::int32_t n_layers = checkpoint.shape.n_layers;
    const auto backend = cpu_backend(checkpoint, 2, 160);
    // The prompt is longer than every window, so that drafts and trees have keys on both sides of its edge.
    const auto prompt = random_tokens(random, 30 + random() % 40, checkpoint.shape.vocab);
    const DecodeRequest request{.prompt = prompt, .max_new_tokens = 40, .eos_tokens = {}};
    const Decoded vanilla = decode_with(*backend, "vanilla", request);
    std::vector<std::string> specifications{"layerskip:exit=1,gamma=4,verify=above-exit",
                                            "draft-verify:gamma=4,skip-attention=1,skip-mlp=0+2",
                                            "mix:mask=exit,exit=3,shape=tree", "clasp", "del"};
    for (int mix = 0; mix < 3; ++mix) specifications.push_back(random_mix(n_layers, random));
    std::int64_t accepted = 0;
    std::int64_t rejected = 0;
    for (const std::string& specification : specifications) {
      const Decoded speculative = decode_with(*backend, specification, request);
      ASSERT_EQ(speculative.tokens, vanilla.tokens) << family.architecture << ' ' << specification;
      accepted += speculative.accepted;
      rejected += speculative.drafted - speculative.accepted;
    }
    EXPECT_GT(accepted, 50) << family.architecture;
    EXPECT_GT(rejected, 50) << family.architecture;
  }
}

TEST(LosslessOnRandomModels, SampledTextDependsOnTheSeedAlone) {
  std::mt19937 random(8);
  const Checkpoint checkpoint = random_checkpoint(random);
  const auto prompt = random_tokens(random, 20, checkpoint.shape.vocab);
  const DecodeRequest request{
      .prompt = prompt, .max_new_tokens = 60, .sampling = {.temperature = 1.0, .top_p = 0.95}};
  const auto one = cpu_backend(checkpoint, 1, 160);
  const auto three = cpu_backend(checkpoint, 3, 160);
  const std::string specification = "layerskip:exit=1,gamma=4";
  EXPECT_EQ(decode_with(*one, specification, request, 5).tokens,
            decode_with(*three, specification, request, 5).tokens);
  EXPECT_NE(decode_with(*one, specification, request, 5).tokens,
            decode_with(*one, specification, request, 6).tokens);
}

}  // namespace
}  // namespace draftscope::engine
