// SPDX-License-Identifier: GPL-3.0-or-later
// Models that devices can't share, and devices that can't hold their share.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cuda/backend.h"
#include "cuda/ranks/rank_part.h"
#include "emulated_gpu.h"
#include "emulated_ranks.h"
#include "led_ranks.h"

namespace draftscope::engine::test {
namespace {

using testing::HasSubstr;

std::string refusal(const Checkpoint& checkpoint, std::int32_t size, CudaWeights weights = {}) {
  const auto part = cuda::make_rank_part(checkpoint, weights, {0, size});
  return part ? "" : part.error().message;
}

TEST(RefusedRanks, AreThoseOfModelsThatTheyCanNotDivide) {
  Random random(53);
  speculation::ModelShape shape = even_shape(random);
  shape.d_ff = 128;
  const auto of = [&](std::int32_t size, CudaWeights weights = {}) {
    return refusal(random_checkpoint(shape, DType::bf16, 9), size, weights);
  };
  EXPECT_EQ(of(8), "");
  EXPECT_EQ(of(3), "model random: n_kv_heads is 8, expected a multiple of 3 ranks");
  EXPECT_EQ(of(32), "model random: 32 ranks share it, expected at most 16 on cuda devices");
  shape.d_ff = 8 * 4;
  EXPECT_EQ(of(4), "");
  EXPECT_THAT(of(4, speculation::WeightFormat::fp8), HasSubstr("down has 32 columns in blocks of 16"));
  EXPECT_THAT(of(8),
              HasSubstr("down has 32 columns in blocks of 8, expected whole blocks for each of 8 ranks"));
  shape.traits.qk_norm = speculation::QkNorm::whole;
  EXPECT_THAT(of(2), HasSubstr("expected one a head for 2 ranks"));
  shape.traits = {};
  const auto not_in_memory = make_synthetic(shape, 0.0, 1, SyntheticMatrices::by_backend);
  ASSERT_TRUE(not_in_memory);
  EXPECT_THAT(refusal(*not_in_memory, 2), HasSubstr("matrices are not in memory"));
}

TEST(RefusedRanks, HoldNoDraftsInFp8WhereAPartsColumnsAreNoWholeLoads) {
  Random random(55);
  speculation::ModelShape shape = shape_of_ranks(random, 2);
  shape.d_model = 32;
  for (const std::int32_t d_ff : {16, 32, 64, 96, 112}) {
    SCOPED_TRACE(d_ff);
    shape.d_ff = d_ff;
    const Checkpoint checkpoint = random_checkpoint(shape, DType::bf16, 9);
    const auto backend = make_shared_backend(checkpoint, 2, make_emulated_rank({.cache_rows = 64}));
    EXPECT_EQ(backend->hold_weights(speculation::WeightFormat::fp8).has_value(), d_ff % 32 == 0);
    OwnedBatch rows = chain(shape, random, 2, 0);
    Batch batch = rows.view();
    if (d_ff % 32 == 0) batch.weights = speculation::WeightFormat::fp8;
    Outputs outputs;
    EXPECT_TRUE(backend->forward(batch, outputs));
  }
}

/// Rank 0's error where rank 1's device has so much memory.
std::string error_with_memory(const Checkpoint& checkpoint, std::size_t bytes) {
  const MakeRank make = [bytes](const Checkpoint& whole, Collective& ranks) {
    namespace emulation = cuda::emulation;
    return cuda::make_backend(
        emulation::make_emulated_gpu(2, ranks.rank() == 1 ? bytes : emulation::usual_memory_bytes, 1,
                                     emulation::usual_shared_bytes, true, &ranks),
        whole, {.cache_rows = 64, .ranks = &ranks});
  };
  try {
    LedRanks ranks({&checkpoint}, 2, make);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(RefusedRanks, EndEveryRankBeforeOneAllocates) {
  Random random(57);
  const Checkpoint checkpoint = random_checkpoint(even_shape(random), DType::bf16, 3);
  EXPECT_EQ(error_with_memory(checkpoint, cuda::emulation::usual_memory_bytes), "");
  const std::string error = error_with_memory(checkpoint, std::size_t{100} << 20);
  EXPECT_THAT(error, HasSubstr("rank 1: cuda backend: random needs"));
  EXPECT_THAT(error, HasSubstr("expected at most what emulated GPU has free: 0.105 GB"));
}

}  // namespace
}  // namespace draftscope::engine::test
