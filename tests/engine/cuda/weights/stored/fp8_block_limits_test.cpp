// SPDX-License-Identifier: GPL-3.0-or-later
// What e4m3 with scales of blocks takes of a device's memory, and where it is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cuda/weights/model_upload.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "weights/device_memory.h"
#include "weights/in_fp8_block.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

/// Pieces have a scale for each 64 weights of a row: 8.5 bits a weight, where the file has hardly more
/// than 8.
TEST(StoredFp8Block, TakesEightAndAHalfBitsAWeight) {
  Random random(211);
  const speculation::ModelShape shape = shape_of_whole_groups();
  InFp8Block model(random_checkpoint(shape, DType::bf16, 1), {}, random);
  constexpr std::size_t layer_weights = 512 * 512 * 2 + 512 * 128 * 2 + 3 * 512 * 1024;
  const std::size_t saved = 2 * layer_weights * 2 - 2 * layer_weights * 17 / 16;
  EXPECT_EQ(cuda::upload_bytes(model.packed(), CudaWeights()).kept + saved,
            cuda::upload_bytes(model.widened(), CudaWeights()).kept);
  expect_memory_of_packed(model.packed(), model.widened(), "fp8_block, bf16");
}

TEST(StoredFp8Block, IsRefusedWhereItCannotBeComputedOn) {
  Random random(212);
  const Checkpoint plain = random_checkpoint(shape_of_whole_groups(), DType::bf16, 1);
  InFp8Block model(plain, {}, random);
  EXPECT_EQ(held_weights(model.packed(), {.cache_rows = 9}), "fp8_block, bf16");
  for (const std::uint8_t nan : {0x7f, 0xff}) {
    InFp8Block other(plain, {}, random);
    other.last_codes()[77] = std::byte{nan};
    EXPECT_THAT(held_weights(other.packed(), {.cache_rows = 9}),
                testing::HasSubstr("mlp.down_proj.weight holds nan, expected finite numbers"));
  }
  model.packed().weights.layers.back().up = plain.weights.layers.back().up;
  EXPECT_EQ(
      held_weights(model.packed(), {.cache_rows = 9}),
      "model tiny: matrices are in several formats of blocks, expected q8_0, q4_0, int4 or fp8_block for "
      "all of the layers', q4_k for some, or none on a cuda device");
}

TEST(StoredFp8Block, HasDraftsInFewerBits) {
  Random random(213);
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.d_model = 64;
  shape.d_ff = 160;
  const Checkpoint plain = random_checkpoint(shape, DType::bf16, 1);
  InFp8Block model(plain, {}, random);
  const auto packed = backend_on_device(model.packed(), {.cache_rows = 9});
  const auto widened = backend_on_device(plain, {.cache_rows = 9});
  for (Backend* const backend : {packed.get(), widened.get()})
    for (const WeightFormat format : {WeightFormat::fp8, WeightFormat::q8_0, WeightFormat::q4_0,
                                      WeightFormat::int4, WeightFormat::fp8_block})
      EXPECT_TRUE(backend->hold_weights(format)) << weight_format_name(format);
}

TEST(StoredFp8Block, IsMadeOfPlainNumbersOfEitherType) {
  const speculation::ModelShape shape = shape_of_whole_groups();
  const CudaOptions options{.cache_rows = 9, .weights = WeightFormat::fp8_block};
  EXPECT_EQ(held_weights(random_checkpoint(shape, DType::bf16, 1), options), "fp8_block, bf16");
  EXPECT_EQ(held_weights(random_checkpoint(shape, DType::f16, 1), options), "fp8_block, fp16");
}

}  // namespace
}  // namespace draftscope::engine::test
