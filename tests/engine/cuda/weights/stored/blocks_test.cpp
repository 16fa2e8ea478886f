// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices that stay in a file's blocks: whatever is computed has the bits of the same file widened.

#include <gtest/gtest.h>

#include <cstdint>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "weights/in_blocks.h"
#include "weights/packed_text.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

using speculation::WeightFormat;

constexpr WeightFormat block_formats[] = {WeightFormat::q8_0, WeightFormat::q4_0};

/// Widths that are multiples of a block and of nothing more.
speculation::ModelShape random_block_shape(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 32 * pick(random, 1, 6);
  shape.d_ff = 32 * pick(random, 1, 9);
  return shape;
}

void expect_bits_of_widened(const speculation::ModelShape& shape, WeightFormat format, Random& random,
                            std::int32_t max_rows = 64) {
  InBlocks model(random_checkpoint(shape, DType::bf16, random()), format);
  expect_same_bits(model.packed(), model.widened(), random, max_rows);
}

TEST(StoredBlocks, HaveTheBitsOfTheSameFileWidened) {
  Random random(151);
  for (const WeightFormat format : block_formats)
    for (int round = 0; round < 6; ++round) {
      SCOPED_TRACE(testing::Message() << speculation::weight_format_name(format) << ", round " << round);
      expect_bits_of_widened(random_block_shape(random), format, random);
    }
}

/// Slices of every length: those that begin within a run, or within what a lane's scales are of.
TEST(StoredBlocks, HaveThemAtEveryDepth) {
  Random random(152);
  for (const WeightFormat format : block_formats)
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE(testing::Message() << speculation::weight_format_name(format) << ", round " << round);
      speculation::ModelShape shape = random_block_shape(random);
      shape.n_layers = 1;
      shape.vocab = pick(random, 4, 40);
      shape.d_model = 32 * pick(random, 1, 24);
      shape.d_ff = 32 * pick(random, 10, 90);
      expect_bits_of_widened(shape, format, random, 12);
    }
}

TEST(StoredBlocks, HaveThemInEveryFamily) {
  Random random(153);
  int round = 0;
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!computed_by_cuda(family)) continue;
    SCOPED_TRACE(family.architecture);
    const speculation::ModelShape shape = of_family(random_block_shape(random), family, random);
    expect_bits_of_widened(shape, block_formats[round++ % 2], random);
  }
}

/// The device's own rounds; strategies take turns at greedy text in q8_0 and coupled text in q4_0.
TEST(StoredBlocks, DecodeTheTextOfTheWidenedFileUnderEveryStrategy) {
  Random random(154);
  speculation::ModelShape shape = random_block_shape(random);
  shape.n_layers = 3;
  shape.d_model = 64;
  shape.d_ff = 96;
  shape.head_dim = 32;
  shape.sliding_window = 0;
  shape.vocab = 50;
  InBlocks first(random_checkpoint(shape, DType::bf16, random()), WeightFormat::q8_0);
  InBlocks second(random_checkpoint(shape, DType::bf16, random()), WeightFormat::q4_0);
  const PackedAndWidened models[] = {{first.packed(), first.widened()}, {second.packed(), second.widened()}};
  expect_text_of_widened(models, 1, 8, random);
}

/// Layers that are rounded to fp8 on the device are those of the widened file.
TEST(StoredBlocks, AreRoundedToFp8AsTheWidenedFileIs) {
  Random random(157);
  const speculation::ModelShape shape = random_block_shape(random);
  InBlocks model(random_checkpoint(shape, DType::bf16, 7), WeightFormat::q8_0);
  const CudaOptions options{.cache_rows = 40, .weights = speculation::WeightFormat::fp8};
  const auto packed = backend_on_device(model.packed(), options);
  const auto widened = backend_on_device(model.widened(), options);
  const OwnedBatch rows = chain(shape, random, 5, 0);
  EXPECT_EQ(packed->describe().weights, "fp8, bf16");
  EXPECT_TRUE(have_same_bits(outputs_of(*packed, rows), outputs_of(*widened, rows)));
}

}  // namespace
}  // namespace draftscope::engine::test
