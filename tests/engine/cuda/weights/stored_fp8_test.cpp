// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices that a file has in e4m3 are used without conversion. If the file's codes and scales equal the ones
// that the backend makes from plain matrices, all results are the same bit for bit.

#include <draftscope/engine/cpu_backend.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cpu/model.h"
#include "cuda_device.h"
#include "cuda_shapes.h"
#include "weights/packed_model.h"

namespace draftscope::engine::test {
namespace {

TEST(StoredFp8, ComputesWhatTheDeviceMakesOfPlainWeights) {
  Random random(141);
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    const speculation::ModelShape shape = random_fp8_shape(random);
    const Checkpoint plain = random_checkpoint(shape, round % 2 == 0 ? DType::bf16 : DType::f16, random());
    PackedModel stored = in_e4m3(plain);
    const auto quantised = backend_on_device(
        plain, {.cache_rows = 120, .weights = speculation::WeightFormat::fp8}, pick(random, 1, 3));
    const auto as_stored = backend_on_device(stored.packed(), {.cache_rows = 120}, pick(random, 1, 3));
    const auto asked_for =
        backend_on_device(stored.packed(), {.cache_rows = 120, .weights = speculation::WeightFormat::fp8}, 2);
    EXPECT_EQ(as_stored->describe().weights, quantised->describe().weights);
    EXPECT_EQ(as_stored->describe().weight_bytes, quantised->describe().weight_bytes);
    Outputs expected;
    Outputs found;
    // More than 64 rows use wide products.
    for (OwnedBatch batch : {chain(shape, random, 70, 0), chain(shape, random, 9, 64)}) {
      batch.wanted.head_from = static_cast<std::int32_t>(batch.rows.size()) - 1;
      ASSERT_TRUE(quantised->forward(batch.view(), expected));
      ASSERT_TRUE(as_stored->forward(batch.view(), found));
      EXPECT_EQ(found.logits, expected.logits);
      ASSERT_TRUE(asked_for->forward(batch.view(), found));
      EXPECT_EQ(found.logits, expected.logits);
    }
  }
}

std::string refusal(const Checkpoint& checkpoint) {
  try {
    (void)backend_on_device(checkpoint, {.cache_rows = 9});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(StoredFp8, IsRefusedWhereItCannotBeComputedOn) {
  Random random(143);
  speculation::ModelShape shape = random_fp8_shape(random);
  const Checkpoint plain = random_checkpoint(shape, DType::bf16, 1);
  {
    PackedModel stored = in_e4m3(plain);
    stored.packed().weights.layers.back().up = plain.weights.layers.back().up;
    EXPECT_EQ(refusal(stored.packed()),
              "model random: some matrices are in fp8, expected all of the layers' or none on a cuda device");
  }
  {
    PackedModel stored = in_e4m3(plain);
    stored.last_codes()[3] = std::byte{0xff};
    EXPECT_THAT(refusal(stored.packed()),
                ::testing::HasSubstr("mlp.down_proj.weight holds nan, expected finite numbers"));
  }
  PackedModel stored = in_e4m3(plain);
  EXPECT_EQ(refusal(stored.packed()), "none");
  EXPECT_EQ(backend_on_device(stored.packed(), {.cache_rows = 9})
                ->prepare_draft_weights(speculation::WeightFormat::fp8)
                .error()
                .message,
            "model random: found weights fp8 for drafts, expected none beside fp8");
  const auto cpu = make_cpu_backend(stored.packed(), {});
  ASSERT_FALSE(cpu);
  EXPECT_EQ(cpu.error().message, "cpu backend: random's matrices are in fp8, expected them widened");
  shape.d_ff = 24;
  const Checkpoint narrow = random_checkpoint(shape, DType::bf16, 1);
  PackedModel other = in_e4m3(narrow);
  EXPECT_EQ(refusal(other.packed()), "model random: d_ff is 24, expected a multiple of 16 on a cuda device");
}

}  // namespace
}  // namespace draftscope::engine::test
