// SPDX-License-Identifier: GPL-3.0-or-later
// What a pass of several devices keeps of one, and of other numbers of devices.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>

#include "compared_outputs.h"
#include "cuda/backend.h"
#include "cuda_device.h"
#include "emulated_gpu.h"
#include "emulated_ranks.h"
#include "noted_gpu.h"
#include "weights/in_e4m3.h"

namespace draftscope::engine::test {
namespace {

constexpr std::int32_t cache_rows = 160;

std::unique_ptr<Backend> shared(const Checkpoint& checkpoint, std::int32_t size, CudaWeights weights) {
  return make_shared_backend(checkpoint, size,
                             make_emulated_rank({.cache_rows = cache_rows, .weights = weights}));
}

class SharedDevicePass : public testing::TestWithParam<CudaWeights> {};

TEST_P(SharedDevicePass, HasTheSameBitsOnOneTwoFourAndEightRanks) {
  Random random(31);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    const speculation::ModelShape shape = even_shape(random);
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, random());
    OwnedBatch prompt = chain(shape, random, round == 0 ? 70 : pick(random, 1, 20), 0);  // a wide one
    if (round > 0) prompt.hidden_after = {1, shape.n_layers};
    prompt.wanted.head_from = static_cast<std::int32_t>(prompt.rows.size()) - 1;
    prompt.wanted.top_k = 1;
    prompt.wanted.logits = round == 1;
    OwnedBatch next = tree(shape, random, pick(random, 1, 8), static_cast<std::int32_t>(prompt.rows.size()));
    next.wanted.top_k = 5;
    const auto alone = shared(checkpoint, 1, GetParam());
    const Outputs expected = run_pass(*alone, prompt.view());
    const Outputs expected_next = run_pass(*alone, next.view());
    for (const std::int32_t size : {2, 4, 8}) {
      SCOPED_TRACE(size);
      const auto several = shared(checkpoint, size, GetParam());
      expect_same(run_pass(*several, prompt.view()), expected);
      expect_same(run_pass(*several, next.view()), expected_next);
    }
  }
}

TEST_P(SharedDevicePass, IsNearThatOfADeviceWithAllOfTheModel) {
  Random random(43);
  const speculation::ModelShape shape = even_shape(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 7);
  for (const std::int32_t rows : {3, 20, 80}) {
    SCOPED_TRACE(rows);
    OwnedBatch prompt = chain(shape, random, rows, 0);
    prompt.wanted.head_from = rows - 1;
    const auto device = backend_on_device(checkpoint, {.cache_rows = cache_rows, .weights = GetParam()});
    const Outputs whole = run_pass(*device, prompt.view());
    const Outputs parts = run_pass(*shared(checkpoint, 2, GetParam()), prompt.view());
    ASSERT_EQ(whole.logits.size(), parts.logits.size());
    // bf16 activations are rounded on the way; a column's scale of fp8 is a part's.
    const double tolerance = GetParam() == speculation::WeightFormat::fp8 ? 0.15 : 0.03;
    double largest = 0.0;
    for (const float logit : whole.logits) largest = std::max(largest, std::abs(static_cast<double>(logit)));
    for (std::size_t i = 0; i < whole.logits.size(); ++i)
      ASSERT_NEAR(whole.logits[i], parts.logits[i], tolerance * largest);
  }
}

INSTANTIATE_TEST_SUITE_P(EachFormat, SharedDevicePass,
                         testing::Values(CudaWeights(), CudaWeights(speculation::WeightFormat::fp8)),
                         [](const auto& of) {
                           return std::string(of.param == speculation::WeightFormat::fp8 ? "fp8"
                                                                                         : "as_stored");
                         });

TEST(SharedDevice, HasTheSameBitsOnAnyNumberOfRanksWhereWeightsAreStoredInFp8) {
  Random random(47);
  const speculation::ModelShape shape = even_shape(random);
  const Checkpoint plain = random_checkpoint(shape, DType::bf16, 9);
  InE4m3 stored(plain);
  OwnedBatch prompt = chain(shape, random, 7, 0);
  const Outputs expected = run_pass(*shared(stored.checkpoint(), 1, CudaWeights()), prompt.view());
  for (const std::int32_t size : {2, 8})
    expect_same(run_pass(*shared(stored.checkpoint(), size, CudaWeights()), prompt.view()), expected);
}

/// Blocks that hold seven rows: nine and more are normalised ahead of the products that need them.
TEST(SharedDevice, HasTheSameBitsWhereRowsAreNormalisedAhead) {
  Random random(49);
  speculation::ModelShape shape = even_shape(random);
  shape.n_heads = shape.n_kv_heads;  // attention of sixteen rows takes a tile of queries
  shape.d_model = 1088;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 11);
  OwnedBatch batch = tree(shape, random, pick(random, 9, 16), 0);
  batch.hidden_after = {1, shape.n_layers};
  const Outputs expected = run_pass(*shared(checkpoint, 2, CudaWeights()), batch.view());
  std::array<NotedCalls, 2> calls;
  const MakeRank make_small = [&](const Checkpoint& whole, Collective& ranks) {
    constexpr std::size_t little = std::size_t{48} << 10;
    auto gpu =
        cuda::emulation::make_emulated_gpu(2, cuda::emulation::usual_memory_bytes, 1, little, true, &ranks);
    return cuda::make_backend(
        std::make_unique<NotedGpu>(std::move(gpu), calls[static_cast<std::size_t>(ranks.rank())]), whole,
        {.cache_rows = cache_rows, .ranks = &ranks});
  };
  expect_same(run_pass(*make_shared_backend(checkpoint, 2, make_small), batch.view()), expected);
  EXPECT_TRUE(calls[0].kernels.contains(cuda::Kernel::normalise_rows));
}

TEST(SharedDevice, DraftsOnFp8HaveTheSameBitsOnAnyNumberOfRanks) {
  Random random(53);
  const speculation::ModelShape shape = even_shape(random);
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 10);
  OwnedBatch prompt = chain(shape, random, 4, 0);
  std::vector<Outputs> found;
  for (const std::int32_t size : {1, 2, 4}) {
    const auto backend = shared(checkpoint, size, CudaWeights());
    ASSERT_TRUE(backend->hold_weights(speculation::WeightFormat::fp8));
    Batch batch = prompt.view();
    const Outputs own = run_pass(*backend, batch);
    batch.weights = speculation::WeightFormat::fp8;
    found.push_back(run_pass(*backend, batch));
    EXPECT_FALSE(have_same_bits(found.back().logits, own.logits)) << "a draft on the model's own weights";
  }
  expect_same(found[1], found[0]);
  expect_same(found[2], found[0]);
}

TEST(SharedDevice, HoldsItsShareOfWeightsAndKeys) {
  Random random(59);
  speculation::ModelShape shape = even_shape(random);
  shape.d_ff = 1024;
  const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 8);
  const auto whole = backend_on_device(checkpoint, {.cache_rows = 64});
  const auto quarter = shared(checkpoint, 4, CudaWeights());
  EXPECT_EQ(quarter->describe().ranks, 4);
  EXPECT_EQ(whole->describe().ranks, 1);
  EXPECT_EQ(quarter->describe().kv_bytes / cache_rows, whole->describe().kv_bytes / 64 / 4);
  EXPECT_LT(quarter->describe().weight_bytes, whole->describe().weight_bytes / 2);
  EXPECT_EQ(quarter->shape().n_heads, shape.n_heads);
}

}  // namespace
}  // namespace draftscope::engine::test
