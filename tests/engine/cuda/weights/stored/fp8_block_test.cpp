// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices that stay e4m3 with scales of blocks: whatever is computed has the bits of the same file widened.

#include <gtest/gtest.h>

#include <cstdint>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "weights/in_fp8_block.h"
#include "weights/packed_text.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

constexpr Fp8BlockForm fp8_block_forms[] = {
    {},
    {.scales = DType::bf16},
    {.block = {64, 256}, .packs_head = true},
    {.block = {8, 128}},
    {.block = {1 << 20, 128}, .packs_head = true},
};

/// Widths that are multiples of a part and of nothing more.
speculation::ModelShape random_fp8_block_shape(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 32 * pick(random, 1, 6);
  shape.d_ff = 32 * pick(random, 1, 9);
  return shape;
}

void expect_fp8_block_has_same_bits(const speculation::ModelShape& shape, const Fp8BlockForm& form,
                                    Random& random, std::int32_t max_rows = 64) {
  SCOPED_TRACE(testing::Message() << "blocks of " << form.block.rows << " x " << form.block.columns);
  InFp8Block model(random_checkpoint(shape, DType::bf16, random()), form, random);
  expect_same_bits(model.packed(), model.widened(), random, max_rows);
}

TEST(StoredFp8Block, HasTheBitsOfTheSameFileWidened) {
  Random random(201);
  for (const Fp8BlockForm& form : fp8_block_forms)
    expect_fp8_block_has_same_bits(random_fp8_block_shape(random), form, random);
}

/// Slices of every length: those that begin within a run, or within what a lane's scales are of.
TEST(StoredFp8Block, HasThemAtEveryDepth) {
  Random random(202);
  for (const Fp8BlockForm& form : fp8_block_forms) {
    speculation::ModelShape shape = random_fp8_block_shape(random);
    shape.n_layers = 1;
    shape.vocab = pick(random, 5, 40);
    shape.d_model = 32 * pick(random, 1, 24);
    shape.d_ff = 32 * pick(random, 10, 90);
    expect_fp8_block_has_same_bits(shape, form, random, 12);
  }
}

TEST(StoredFp8Block, HasThemInEveryFamily) {
  Random random(203);
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!computed_by_cuda(family)) continue;
    SCOPED_TRACE(family.architecture);
    speculation::ModelShape shape = random_fp8_block_shape(random);
    shape.n_layers = 2;
    expect_fp8_block_has_same_bits(of_family(shape, family, random), {}, random, 12);
  }
}

/// The device's own rounds; strategies take turns at greedy and coupled text. Every third of them: all go
/// through blocks and int4.
TEST(StoredFp8Block, DecodesTheTextOfTheWidenedFileUnderStrategies) {
  Random random(204);
  speculation::ModelShape shape = random_fp8_block_shape(random);
  shape.n_layers = 3;
  shape.d_model = 64;
  shape.d_ff = 160;
  shape.head_dim = 32;
  shape.sliding_window = 0;
  shape.vocab = 48;
  InFp8Block model(random_checkpoint(shape, DType::bf16, random()), {}, random);
  const PackedAndWidened models[] = {{model.packed(), model.widened()}};
  expect_text_of_widened(models, 3, 8, random);
}

/// Layers that are rounded to another format are those of the widened file.
TEST(StoredFp8Block, IsRoundedAsTheWidenedFileIs) {
  Random random(205);
  const speculation::ModelShape shape = random_fp8_block_shape(random);
  InFp8Block model(random_checkpoint(shape, DType::bf16, 7), {}, random);
  const CudaOptions options{.cache_rows = 40, .weights = speculation::WeightFormat::fp8};
  const auto packed = backend_on_device(model.packed(), options);
  const auto widened = backend_on_device(model.widened(), options);
  const OwnedBatch rows = chain(shape, random, 5, 0);
  EXPECT_TRUE(have_same_bits(outputs_of(*packed, rows), outputs_of(*widened, rows)));
}

}  // namespace
}  // namespace draftscope::engine::test
