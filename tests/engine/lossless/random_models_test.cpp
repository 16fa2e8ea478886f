// SPDX-License-Identifier: GPL-3.0-or-later
// Text under every mix of a draft's parts equals vanilla text on the real backend, bit for bit, whatever the
// model.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "decoded.h"
#include "random_mix.h"

namespace draftscope::engine {
namespace {

TEST(LosslessOnRandomModels, GreedyTextOfPackedModelsEqualsVanilla) {
  std::mt19937 random(27);
  std::int64_t accepted = 0;
  for (const auto format : {speculation::WeightFormat::q8_0, speculation::WeightFormat::q5_0,
                            speculation::WeightFormat::q4_1, speculation::WeightFormat::q3_0})
    for (int trial = 0; trial < 3; ++trial) {
      const Checkpoint checkpoint = random_checkpoint(random);
      const auto backend =
          make_cpu_backend(checkpoint, {.threads = 1 + trial, .cache_rows = 160, .weights = format});
      ASSERT_TRUE(backend) << backend.error().message;
      const auto prompt = random_tokens(random, 1 + random() % 100, checkpoint.shape.vocab);
      const DecodeRequest request{.prompt = prompt, .max_new_tokens = 40};
      const Decoded vanilla = decode_with(**backend, "vanilla", request);
      for (const char* verify : {"all-layers", "above-exit"}) {
        const Decoded speculative = decode_with(
            **backend, fmt::format("layerskip:exit=1,gamma={},verify={}", 1 + random() % 11, verify),
            request);
        ASSERT_EQ(speculative.tokens, vanilla.tokens) << speculation::weight_format_name(format);
        accepted += speculative.accepted;
      }
    }
  EXPECT_GT(accepted, 50);
}

TEST(LosslessOnRandomModels, GreedyTextOfAnyMixEqualsVanilla) {
  std::mt19937 random(17);
  std::int64_t accepted = 0;
  std::int64_t rejected = 0;
  for (int trial = 0; trial < 70; ++trial) {
    Checkpoint checkpoint = random_checkpoint(random);
    while (checkpoint.shape.n_layers < 3) checkpoint = random_checkpoint(random);
    const auto threads = static_cast<std::int32_t>(1 + random() % 2);
    const auto backend = cpu_backend(checkpoint, threads, 160);
    const auto prompt = random_tokens(random, 1 + random() % 100, checkpoint.shape.vocab);
    const auto eos = random_tokens(random, random() % 2, checkpoint.shape.vocab);
    const DecodeRequest request{
        .prompt = prompt, .max_new_tokens = static_cast<std::int32_t>(1 + random() % 80), .eos_tokens = eos};
    const Decoded vanilla = decode_with(*backend, "vanilla", request);
    for (int mix = 0; mix < 4; ++mix) {
      const std::string specification = random_mix(random, checkpoint.shape.n_layers, true);
      const Decoded mixed = decode_with(*backend, specification, request);
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
    for (int mix = 0; mix < 3; ++mix) specifications.push_back(random_mix(random, n_layers, true));
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

TEST(LosslessOnRandomModels, CoupledTextOfAnyMixEqualsVanilla) {
  std::mt19937 random(18);
  std::int64_t accepted = 0;
  for (int trial = 0; trial < 25; ++trial) {
    Checkpoint checkpoint = random_checkpoint(random);
    while (checkpoint.shape.n_layers < 3) checkpoint = random_checkpoint(random);
    const auto backend = cpu_backend(checkpoint, 1, 160);
    const auto prompt = random_tokens(random, 1 + random() % 40, checkpoint.shape.vocab);
    const DecodeRequest request{.prompt = prompt,
                                .max_new_tokens = 50,
                                .sampling = {.temperature = 0.7, .top_p = 0.95, .coupled = true}};
    const std::uint64_t seed = random();
    const Decoded vanilla = decode_with(*backend, "vanilla", request, seed);
    for (int mix = 0; mix < 3; ++mix) {
      const std::string specification = random_mix(random, checkpoint.shape.n_layers, true);
      const Decoded mixed = decode_with(*backend, specification, request, seed);
      ASSERT_EQ(mixed.tokens, vanilla.tokens) << "trial " << trial << ' ' << specification;
      accepted += mixed.accepted;
    }
  }
  EXPECT_GT(accepted, 300);
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
