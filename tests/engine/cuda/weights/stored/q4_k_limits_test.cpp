// SPDX-License-Identifier: GPL-3.0-or-later
// What Q4_K takes of a device's memory, alone and beside plain matrices, and where it is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cuda/weights/model_upload.h"
#include "cuda_device.h"
#include "weights/device_memory.h"
#include "weights/in_blocks.h"
#include "weights/in_q4_k.h"
#include "weights/layer_matrices.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

speculation::ModelShape two_layers_of_q4_k(Random& random) {
  speculation::ModelShape shape = random_q4_k_shape(random);
  shape.name = "tiny";
  shape.n_layers = 2;
  shape.tied_embeddings = true;
  return shape;
}

/// Pieces have 12 bytes of scales for each 128 weights, of those that stay packed: 4.75 bits a weight, where
/// the file has 4.5.
TEST(StoredQ4K, TakesFourAndThreeQuarterBitsAWeight) {
  Random random(211);
  for (const double plain_share : {0.0, 0.5}) {
    const Checkpoint plain = random_checkpoint(two_layers_of_q4_k(random), DType::bf16, 1);
    InQ4K model(plain, random, plain_share);
    std::size_t saved = 0;
    for (const LayerWeights& layer : model.packed().weights.layers)
      for (TensorView LayerWeights::*const place : layer_matrices)
        if (const TensorView& matrix = layer.*place; matrix.blocks != nullptr)
          saved += static_cast<std::size_t>(matrix.rows * matrix.columns) * (64 - 19) / 32;
    ASSERT_GT(saved, 0U);
    EXPECT_EQ(cuda::upload_bytes(model.packed(), CudaWeights()).kept + saved,
              cuda::upload_bytes(model.widened(), CudaWeights()).kept);
    expect_memory_of_packed(model.packed(), model.widened(), "q4_k, bf16");
  }
}

TEST(StoredQ4K, IsRefusedWhereItCannotBeComputedOn) {
  Random random(212);
  const Checkpoint plain = random_checkpoint(two_layers_of_q4_k(random), DType::bf16, 1);
  InQ4K model(plain, random);
  model.packed().weights.layers.back().down =
      InBlocks(plain, WeightFormat::q8_0).packed().weights.layers.back().down;
  EXPECT_EQ(held_weights(model.packed(), {.cache_rows = 9}),
            "model tiny: matrices are in several formats of blocks, expected q8_0, q4_0, int4 or "
            "fp8_block for all of the layers', q4_k for some, or none on a cuda device");
  InQ4K other(plain, random);
  other.packed().weights.layers.back().up = plain.weights.layers.back().up;
  EXPECT_EQ(held_weights(other.packed(), {.cache_rows = 9}),
            "model tiny: gate and up of a layer are in two formats, expected one on a cuda device");
}

/// Plain matrices beside Q4_K are rounded as well, and those of drafts are in one format.
TEST(StoredQ4K, HasDraftsAndIsRoundedInOneFormat) {
  Random random(213);
  const speculation::ModelShape shape = two_layers_of_q4_k(random);
  InQ4K model(random_checkpoint(shape, DType::bf16, 1), random, 0.5);
  const auto mixed = backend_on_device(model.packed(), {.cache_rows = 40});
  const OwnedBatch rows = chain(shape, random, 5, 0);
  for (const WeightFormat format : {WeightFormat::fp8, WeightFormat::q4_0, WeightFormat::q4_k}) {
    SCOPED_TRACE(speculation::weight_format_name(format));
    ASSERT_TRUE(mixed->hold_weights(format));
    const auto rounded = backend_on_device(model.packed(), {.cache_rows = 40, .weights = format});
    Outputs drafted;
    Batch batch = rows.view();
    batch.weights = format;
    ASSERT_TRUE(mixed->forward(batch, drafted));
    Outputs whole;
    ASSERT_TRUE(rounded->forward(rows.view(), whole));
    EXPECT_EQ(drafted.logits, whole.logits);
    EXPECT_THAT(rounded->describe().weights,
                testing::StartsWith(std::string(speculation::weight_format_name(format))));
  }
}

}  // namespace
}  // namespace draftscope::engine::test
