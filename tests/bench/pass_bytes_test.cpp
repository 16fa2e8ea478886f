// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_bytes.h"

#include <gtest/gtest.h>

namespace draftscope::bench {
namespace {

engine::Checkpoint published(const char* name) {
  return *engine::make_synthetic({.model = name}, engine::SyntheticMatrices::by_backend);
}

TEST(PassBytes, AreThoseOfADecodeStepWithoutContext) {
  for (const char* name : {"llama-3.2-1b", "qwen2.5-0.5b", "llama-3-8b"}) {
    const engine::Checkpoint checkpoint = published(name);
    EXPECT_EQ(pass_bytes(checkpoint, std::nullopt, checkpoint.shape.n_layers, 0), checkpoint.bytes_per_step())
        << name;
  }
}

TEST(PassBytes, GrowByTheCacheRowsOfTheLayersThatRun) {
  const engine::Checkpoint checkpoint = published("llama-3.2-1b");
  // The K/V cache takes 32 KiB per token over 16 layers, as models.csv says.
  EXPECT_EQ(pass_bytes(checkpoint, std::nullopt, 16, 512) - pass_bytes(checkpoint, std::nullopt, 16, 0),
            512U * 32768U);
  EXPECT_EQ(pass_bytes(checkpoint, std::nullopt, 4, 512) - pass_bytes(checkpoint, std::nullopt, 4, 0),
            512U * 8192U);
}

TEST(PassBytes, ShrinkTheLayersMatricesInFewerBits) {
  const engine::Checkpoint checkpoint = published("llama-3.2-1b");
  const auto layers = [&](engine::CudaWeights weights) {
    return static_cast<double>(pass_bytes(checkpoint, weights, 16, 0) -
                               pass_bytes(checkpoint, weights, 0, 0));
  };
  EXPECT_NEAR(layers(speculation::WeightFormat::fp8) / layers(std::nullopt), 0.5, 0.002);
  EXPECT_NEAR(layers(speculation::WeightFormat::q4_0) / layers(std::nullopt), 4.5 / 16.0, 0.001);
  EXPECT_NEAR(layers(speculation::WeightFormat::int4) / layers(std::nullopt), 4.25 / 16.0, 0.001);
  EXPECT_NEAR(layers(speculation::WeightFormat::fp8_block) / layers(std::nullopt), 8.03125 / 16.0, 0.001);
}

}  // namespace
}  // namespace draftscope::bench
