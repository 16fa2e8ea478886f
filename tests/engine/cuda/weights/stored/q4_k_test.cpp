// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices that stay Q4_K, all of the layers' or some of them: whatever is computed has the bits of the same
// file widened.

#include <gtest/gtest.h>

#include <cstdint>

#include "cuda_shapes.h"
#include "weights/in_q4_k.h"
#include "weights/packed_text.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

void expect_q4_k_has_same_bits(const speculation::ModelShape& shape, Random& random, double plain_share,
                               std::int32_t max_rows) {
  InQ4K model(random_checkpoint(shape, DType::bf16, random()), random, plain_share);
  expect_same_bits(model.packed(), model.widened(), random, max_rows);
}

TEST(StoredQ4K, HasTheBitsOfTheSameFileWidened) {
  Random random(191);
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    expect_q4_k_has_same_bits(random_q4_k_shape(random), random, 0.0, 40);
  }
}

/// Slices of every length: those that begin within a run, or within what a lane's scales are of.
TEST(StoredQ4K, HasThemAtEveryDepth) {
  Random random(192);
  for (int round = 0; round < 5; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    speculation::ModelShape shape = random_q4_k_shape(random);
    shape.n_layers = 1;
    shape.d_ff = 256 * pick(random, 1, 9);
    shape.vocab = 4;
    expect_q4_k_has_same_bits(shape, random, 0.0, 12);
  }
}

/// As files have it: q, k and v in two formats, others from layer to layer; also where norms follow products.
TEST(StoredQ4K, HasThemBesidePlainMatricesInEveryFamily) {
  Random random(193);
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!computed_by_cuda(family)) continue;
    SCOPED_TRACE(family.architecture);
    speculation::ModelShape shape = random_q4_k_shape(random);
    shape.d_ff = 256;
    shape = of_family(shape, family, random);
    expect_q4_k_has_same_bits(shape, random, 0.4, 12);
  }
}

/// The device's own rounds, whose layers are in two formats by turns. Every fifth strategy: all go through
/// blocks and int4.
TEST(StoredQ4K, DecodesTheTextOfTheWidenedFileUnderStrategies) {
  Random random(194);
  speculation::ModelShape shape = random_q4_k_shape(random);
  shape.n_layers = 3;
  shape.d_ff = 256;
  shape.sliding_window = 0;
  InQ4K model(random_checkpoint(shape, DType::bf16, random()), random, 0.4);
  const PackedAndWidened models[] = {{model.packed(), model.widened()}};
  expect_text_of_widened(models, 5, 4, random);
}

}  // namespace
}  // namespace draftscope::engine::test
