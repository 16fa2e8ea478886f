// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices that stay AWQ's or GPTQ's integers: whatever is computed has the bits of the same file widened.

#include <gtest/gtest.h>

#include <cstdint>

#include "cuda_device.h"
#include "cuda_shapes.h"
#include "weights/in_int4.h"
#include "weights/packed_text.h"
#include "weights/same_bits.h"

namespace draftscope::engine::test {
namespace {

constexpr Int4Form int4_forms[] = {
    {.form = PackedForm::awq},
    {.form = PackedForm::gptq, .zero_offset = 1},
    {.form = PackedForm::gptq, .group = 256, .scales = DType::bf16, .packs_head = true},
    {.form = PackedForm::awq, .group = 0, .scales = DType::f32},
    {.form = PackedForm::gptq, .group = 384, .packs_head = true},
};

/// Widths that are multiples of a part and of nothing more, and a vocabulary that a packed head can have.
speculation::ModelShape random_int4_shape(Random& random) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 32 * pick(random, 1, 6);
  shape.d_ff = 32 * pick(random, 1, 9);
  shape.vocab = 8 * pick(random, 1, 20);
  return shape;
}

void expect_int4_has_same_bits(const speculation::ModelShape& shape, const Int4Form& form, DType dtype,
                               Random& random, std::int32_t max_rows = 64) {
  SCOPED_TRACE(testing::Message() << (form.form == PackedForm::awq ? "awq" : "gptq") << " in groups of "
                                  << form.group << ", " << dtype_name(dtype));
  InInt4 model(random_checkpoint(shape, dtype, random()), form, random);
  expect_same_bits(model.packed(), model.widened(), random, max_rows);
}

TEST(StoredInt4, HasTheBitsOfTheSameFileWidened) {
  Random random(161);
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const Int4Form& form : int4_forms)
      expect_int4_has_same_bits(random_int4_shape(random), form, dtype, random);
}

/// Slices of every length: those that begin within a run, or within what a lane's scales are of.
TEST(StoredInt4, HasThemAtEveryDepth) {
  Random random(162);
  for (const DType dtype : {DType::bf16, DType::f16})
    for (const Int4Form& form : int4_forms) {
      speculation::ModelShape shape = random_int4_shape(random);
      shape.n_layers = 1;
      shape.vocab = 8 * pick(random, 1, 5);
      shape.d_model = 32 * pick(random, 1, 24);
      shape.d_ff = 32 * pick(random, 10, 90);
      expect_int4_has_same_bits(shape, form, dtype, random, 12);
    }
}

TEST(StoredInt4, HasThemInEveryFamily) {
  Random random(163);
  int round = 0;
  for (const speculation::ModelFamily& family : speculation::model_families()) {
    if (!computed_by_cuda(family)) continue;
    SCOPED_TRACE(family.architecture);
    const speculation::ModelShape shape = of_family(random_int4_shape(random), family, random);
    expect_int4_has_same_bits(shape, int4_forms[round % 2], round % 3 == 0 ? DType::bf16 : DType::f16,
                              random);
    ++round;
  }
}

/// The device's own rounds; strategies take turns at greedy text in bf16 and coupled text in fp16.
TEST(StoredInt4, DecodesTheTextOfTheWidenedFileUnderEveryStrategy) {
  Random random(164);
  speculation::ModelShape shape = random_int4_shape(random);
  shape.n_layers = 3;
  shape.d_model = 64;
  shape.d_ff = 160;
  shape.head_dim = 32;
  shape.sliding_window = 0;
  shape.vocab = 48;
  InInt4 first(random_checkpoint(shape, DType::bf16, random()), int4_forms[0], random);
  InInt4 second(random_checkpoint(shape, DType::f16, random()), int4_forms[1], random);
  const PackedAndWidened models[] = {{first.packed(), first.widened()}, {second.packed(), second.widened()}};
  expect_text_of_widened(models, 1, 8, random);
}

/// Layers that are rounded to another format are those of the widened file.
TEST(StoredInt4, IsRoundedAsTheWidenedFileIs) {
  using enum speculation::WeightFormat;
  Random random(165);
  const speculation::ModelShape shape = random_int4_shape(random);
  for (const DType dtype : {DType::bf16, DType::f16}) {
    InInt4 model(random_checkpoint(shape, dtype, 7), int4_forms[0], random);
    const CudaOptions options{.cache_rows = 40, .weights = fp8};
    const auto packed = backend_on_device(model.packed(), options);
    const auto widened = backend_on_device(model.widened(), options);
    const OwnedBatch rows = chain(shape, random, 5, 0);
    EXPECT_TRUE(have_same_bits(outputs_of(*packed, rows), outputs_of(*widened, rows)));
  }
}

}  // namespace
}  // namespace draftscope::engine::test
