// SPDX-License-Identifier: GPL-3.0-or-later
// What matrices in a file's blocks take of a device's memory, and where they are refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "cuda/weights/model_upload.h"
#include "cuda_shapes.h"
#include "weights/device_memory.h"
#include "weights/in_blocks.h"
#include "weights/layer_matrices.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

constexpr WeightFormat formats[] = {WeightFormat::q8_0, WeightFormat::q4_0};

TEST(StoredBlocks, TakeTheirBytesAndAreRefusedBeforeAnyIsAllocated) {
  Random random(155);
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 256;
  shape.d_ff = 512;
  shape.n_heads = 8;
  shape.head_dim = 32;
  shape.n_kv_heads = 2;
  shape.n_layers = 2;
  shape.vocab = 16;
  shape.tied_embeddings = true;
  const Checkpoint plain = random_checkpoint(shape, DType::bf16, 1);
  for (const WeightFormat format : formats) {
    InBlocks model(plain, format);
    const std::size_t bytes = cuda::upload_bytes(model.packed(), CudaWeights()).kept;
    // What the file's blocks are, beside embedding, norms and the padding of each piece to 256 bytes.
    double packed = 0.0;
    std::size_t others = model.packed().weights.embedding.bytes();
    for (const LayerWeights& layer : model.packed().weights.layers) {
      for (TensorView LayerWeights::*const matrix : layer_matrices)
        packed += static_cast<double>((layer.*matrix).bytes());
      others += 256 * 20 + 6 * 4 * static_cast<std::size_t>(shape.d_ff);
    }
    EXPECT_GE(static_cast<double>(bytes), packed);
    EXPECT_LE(static_cast<double>(bytes), packed + static_cast<double>(others) + 4096.0);
    expect_memory_of_packed(model.packed(), model.widened(),
                            std::string(speculation::weight_format_name(format)) + ", bf16");
  }
}

TEST(StoredBlocks, AreRefusedWhereTheyCannotBeComputedOn) {
  Random random(156);
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 64;
  shape.d_ff = 96;
  const Checkpoint plain = random_checkpoint(shape, DType::bf16, 1);
  const CudaOptions options{.cache_rows = 40};
  {
    InBlocks model(plain, WeightFormat::q8_0);
    model.packed().weights.layers.back().up = plain.weights.layers.back().up;
    EXPECT_THAT(held_weights(model.packed(), options),
                testing::HasSubstr("model random: matrices are in several formats of blocks, expected "));
  }
  for (const WeightFormat format : formats) {
    InBlocks model(plain, format);
    const std::uint16_t infinity = 0x7c00;
    std::memcpy(model.last_blocks().data(), &infinity, sizeof infinity);
    EXPECT_THAT(held_weights(model.packed(), options), testing::HasSubstr(" holds "));
    EXPECT_THAT(held_weights(model.packed(), options), testing::HasSubstr(", expected finite numbers"));
  }
  InBlocks model(plain, WeightFormat::q4_0);
  EXPECT_EQ(held_weights(model.packed(), options), "q4_0, bf16");
}

}  // namespace
}  // namespace draftscope::engine::test
