// SPDX-License-Identifier: GPL-3.0-or-later
// What packed integers take of a device's memory, and where they are refused.

#include <gtest/gtest.h>

#include <string>

#include "cuda/weights/model_upload.h"
#include "cuda_device.h"
#include "weights/device_memory.h"
#include "weights/in_int4.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

TEST(StoredInt4, TakesFourAndAQuarterBitsAWeight) {
  Random random(171);
  const speculation::ModelShape shape = shape_of_whole_groups();
  const Checkpoint plain = random_checkpoint(shape, DType::f16, 1);
  InInt4 model(plain, {}, random);
  constexpr std::size_t layer_weights = 512 * 512 * 2 + 512 * 128 * 2 + 3 * 512 * 1024;
  const std::size_t saved = 2 * layer_weights * 2 - 2 * layer_weights * 17 / 32;
  EXPECT_EQ(cuda::upload_bytes(model.packed(), CudaWeights()).kept + saved,
            cuda::upload_bytes(model.widened(), CudaWeights()).kept);
  // Beside what the file has: a zero point of 16 bits instead of 4.
  const double stored = 4.0 + (16.0 + 4.0) / 128.0;
  EXPECT_DOUBLE_EQ(model.packed().weights.layers[0].down.weight_bits(), stored);
  EXPECT_LT(speculation::weight_format_row(WeightFormat::int4).bits / stored, 1.023);
  expect_memory_of_packed(model.packed(), model.widened(), "int4, fp16");
}

TEST(StoredInt4, IsRefusedWhereItCannotBeComputedOn) {
  Random random(172);
  const Checkpoint plain = random_checkpoint(shape_of_whole_groups(), DType::bf16, 1);
  InInt4 model(plain, {}, random);
  EXPECT_EQ(held_weights(model.packed(), {.cache_rows = 9}), "int4, bf16");
  model.packed().weights.layers.back().up = plain.weights.layers.back().up;
  EXPECT_EQ(
      held_weights(model.packed(), {.cache_rows = 9}),
      "model tiny: matrices are in several formats of blocks, expected q8_0, q4_0, int4 or fp8_block for "
      "all of the layers', q4_k for some, or none on a cuda device");
  InInt4 other(plain, {}, random);
  other.packed().weights.embedding.quantised = other.packed().weights.layers[0].q.quantised;
  EXPECT_EQ(held_weights(other.packed(), {.cache_rows = 9}),
            "model tiny: the embedding or the head is in blocks, expected it widened on a cuda device");
}

/// K/V is the activations', which a draft shares.
TEST(StoredInt4, HasDraftsOfItsActivations) {
  Random random(173);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Checkpoint plain = random_checkpoint(shape_of_whole_groups(), dtype, 1);
    InInt4 model(plain, {}, random);
    const auto packed = backend_on_device(model.packed(), {.cache_rows = 9});
    const auto widened = backend_on_device(plain, {.cache_rows = 9});
    for (const WeightFormat format : {WeightFormat::fp8, WeightFormat::q8_0, WeightFormat::q4_0}) {
      const auto held = packed->hold_weights(format);
      EXPECT_EQ(held ? "held" : held.error().message, dtype == DType::bf16
                                                          ? "held"
                                                          : "model tiny: found weights " +
                                                                std::string(weight_format_name(format)) +
                                                                " for drafts, expected int4 beside fp16");
    }
    for (Backend* const backend : {packed.get(), widened.get()})
      EXPECT_TRUE(backend->hold_weights(WeightFormat::int4));
  }
}

TEST(StoredInt4, IsMadeOfPlainNumbersOfEitherType) {
  const speculation::ModelShape shape = shape_of_whole_groups();
  const CudaOptions options{.cache_rows = 9, .weights = WeightFormat::int4};
  EXPECT_EQ(held_weights(random_checkpoint(shape, DType::bf16, 1), options), "int4, bf16");
  EXPECT_EQ(held_weights(random_checkpoint(shape, DType::f16, 1), options), "int4, fp16");
}

}  // namespace
}  // namespace draftscope::engine::test
