// SPDX-License-Identifier: GPL-3.0-or-later
// int4 as kernels read it, read here by its description (kernels/grouped_layout.h).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "checkpoint/element_bits.h"
#include "cuda/kernels/grouped_layout.h"
#include "cuda/weights/pack_groups.h"
#include "in_int4.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {
namespace {

/// A weight of a packed matrix, and the step between neighbours of its group.
struct Int4Weight {
  float value;
  float step;
};

Int4Weight weight_at(const std::vector<std::byte>& packed, std::int64_t rows, std::int64_t columns,
                     std::int64_t row, std::int64_t k) {
  const std::int64_t runs = (columns + 127) / 128;
  const std::int64_t codes = row * runs * 64 + k / 128 * 64 + k % 32 / 8 * 16 + k % 128 / 32 * 4;
  std::uint32_t part;
  std::memcpy(&part, packed.data() + codes, sizeof part);
  const std::uint32_t number = part >> (k % 2 * 16 + k % 8 / 2 * 4) & 15U;
  const std::int64_t lines = (columns + 511) / 512;
  const std::int64_t scales =
      rows * runs * 64 + (row / 8 * lines + k / 512) * 128 + row % 8 * 16 + k % 512 / 128 * 4;
  std::uint32_t word;
  std::memcpy(&word, packed.data() + scales, sizeof word);
  const float scale = f16_to_float(static_cast<std::uint16_t>(word & 0xffffU));
  const float base_and_zero = -bf16_to_float(static_cast<std::uint16_t>(word >> 16U));
  return {(128.0F + static_cast<float>(number) - base_and_zero) * scale, std::abs(scale)};
}

std::vector<float> row_of(const TensorView& tensor, std::int64_t row) {
  std::vector<float> values(static_cast<std::size_t>(tensor.columns));
  copy_row(tensor, row, values.data());
  return values;
}

speculation::ModelShape one_layer(std::int32_t d_model, std::int32_t d_ff) {
  speculation::ModelShape shape;
  shape.n_layers = 1;
  shape.n_heads = shape.n_kv_heads = 1;
  shape.head_dim = 8;
  shape.d_model = d_model;
  shape.d_ff = d_ff;
  shape.vocab = 8;
  return shape;
}

/// Also of rows that begin and end anywhere, as those of a fused matrix's parts do.
TEST(PackInt4, KeepsEveryNumberOfTheFile) {
  Random random(181);
  for (int round = 0; round < 12; ++round) {
    const Int4Form form{.form = round % 2 == 0 ? PackedForm::awq : PackedForm::gptq,
                        .group = 128 * (round % 4),
                        .zero_offset = round / 2 % 2};
    const Checkpoint plain = random_checkpoint(one_layer(8 * pick(random, 17, 40), 32 * pick(random, 1, 40)),
                                               DType::bf16, random());
    InInt4 model(plain, form, random);
    const TensorView& whole = model.packed().weights.layers[0].down;
    const std::int64_t first = pick(random, 0, 20);
    const TensorView part = whole.rows_from(first, pick(random, 1, static_cast<int>(whole.rows - first)));
    SCOPED_TRACE(testing::Message() << part.rows << " x " << part.columns << ", groups of " << form.group);
    const auto packed = cuda::pack_int4(part);
    ASSERT_TRUE(packed);
    ASSERT_EQ(packed->size(), cuda::int4_layout.bytes(part.rows, part.columns));
    for (std::int64_t row = 0; row < part.rows; ++row) {
      const std::vector<float> expected = row_of(whole, first + row);
      const std::vector<float> numbers = row_of(model.widened().weights.layers[0].down, first + row);
      for (std::int64_t k = 0; k < part.columns; ++k) {
        const float found = weight_at(*packed, part.rows, part.columns, row, k).value;
        ASSERT_EQ(found, expected[static_cast<std::size_t>(k)]) << row << ", " << k;
        ASSERT_EQ(bf16_to_float(float_to_bf16(found)), numbers[static_cast<std::size_t>(k)]);
      }
    }
  }
}

TEST(PackInt4, RoundsPlainNumbersToWithinAStepAndKeepsZeros) {
  Random random(182);
  for (int round = 0; round < 6; ++round) {
    std::vector<float> values(static_cast<std::size_t>(7 * 32 * pick(random, 1, 20)));
    for (float& value : values) {
      value = 0.001F * static_cast<float>(pick(random, -900, round % 2 == 0 ? 900 : 30));
      if (chance(random, 0.1)) value = 0.0F;
    }
    const auto columns = static_cast<std::int64_t>(values.size() / 7);
    const TensorView plain{reinterpret_cast<const std::byte*>(values.data()), DType::f32, 7, columns};
    const auto packed = cuda::pack_int4(plain);
    ASSERT_TRUE(packed);
    for (std::int64_t i = 0; i < 7 * columns; ++i) {
      const Int4Weight found = weight_at(*packed, 7, columns, i / columns, i % columns);
      const float value = values[static_cast<std::size_t>(i)];
      // Half a step for the number, and half a one for the zero point, which may move an end out of reach.
      ASSERT_LE(std::abs(found.value - value), 1.01F * found.step) << i;
      ASSERT_TRUE(value != 0.0F || found.value == 0.0F) << i;
    }
  }
}

TEST(PackInt4, IsNoneOfWhatIsNoFiniteNumber) {
  std::vector<float> values(2 * 64, 0.5F);
  const TensorView plain{reinterpret_cast<const std::byte*>(values.data()), DType::f32, 2, 64};
  EXPECT_TRUE(cuda::pack_int4(plain));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::max()}) {
    values[70] = bad;
    EXPECT_FALSE(cuda::pack_int4(plain)) << bad;
  }
  values.assign(values.size(), 1e-30F);  // steps that fp16 has not
  ASSERT_TRUE(cuda::pack_int4(plain));
  EXPECT_EQ(weight_at(*cuda::pack_int4(plain), 2, 64, 1, 63).value, 0.0F);
}

}  // namespace
}  // namespace draftscope::engine::test
