// SPDX-License-Identifier: GPL-3.0-or-later
// Text under every mix of a draft's parts equals vanilla text on the real backend, bit for bit, whatever the
// model.

#include <gtest/gtest.h>

#include <array>

#include "decoded.h"
#include "random_strategy.h"

namespace draftscope::engine {
namespace {

TEST(LosslessOnRandomModels, GreedyAndCoupledTextOfAnyMixEqualsVanilla) {
  using speculation::WeightFormat;
  constexpr std::array packed{WeightFormat::q8_0, WeightFormat::q5_0, WeightFormat::q4_1, WeightFormat::q3_0};
  std::mt19937 random(17);
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  for (std::size_t trial = 0; trial < 90; ++trial) {
    Checkpoint checkpoint = random_checkpoint(random);
    while (checkpoint.shape.n_layers < 3) checkpoint = random_checkpoint(random);
    CpuOptions options{.threads = static_cast<std::int32_t>(1 + random() % 3), .cache_rows = 160};
    const bool is_packed = trial % 6 == 0;
    if (is_packed) options.weights = packed[trial / 6 % packed.size()];
    const auto backend = make_cpu_backend(checkpoint, options);
    ASSERT_TRUE(backend) << backend.error().message;
    const auto prompt = random_tokens(random, 1 + random() % 100, checkpoint.shape.vocab);
    const auto eos = random_tokens(random, random() % 2, checkpoint.shape.vocab);
    DecodeRequest request{
        .prompt = prompt, .max_new_tokens = static_cast<std::int32_t>(1 + random() % 80), .eos_tokens = eos};
    if (trial % 4 == 3) request.sampling = {.temperature = 0.7, .top_p = 0.95, .coupled = true};
    const std::uint64_t seed = random();
    const Decoded vanilla = decode_with(**backend, "vanilla", request, seed);
    for (int mix = 0; mix < 4; ++mix) {
      // A packed model drafts with its own weights.
      const std::string specification = is_packed ? random_mix(checkpoint.shape.n_layers, random, {})
                                                  : random_mix(checkpoint.shape.n_layers, random);
      const Decoded mixed = decode_with(**backend, specification, request, seed);
      ASSERT_EQ(mixed.tokens, vanilla.tokens) << "trial " << trial << ' ' << specification;
      accepted += mixed.accepted;
      rejected += mixed.drafted - mixed.accepted;
    }
  }
  EXPECT_GT(accepted, 1000);
  EXPECT_GT(rejected, 1000);
}

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
