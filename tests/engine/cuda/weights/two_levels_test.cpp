// SPDX-License-Identifier: GPL-3.0-or-later
// Q4_K as kernels read it, read here by its description (kernels/grouped_layout.h).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "checkpoint/element_bits.h"
#include "checkpoint/gguf/unpack.h"
#include "cuda/weights/pack_groups.h"
#include "in_q4_k.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {
namespace {

/// A weight of a packed matrix, and what its scale and its minimum are multiples of.
struct Q4KWeight {
  float value;
  float step;
  float unit, unit_of_minima;
};

/// Scales and minima lie as in a file's block, whose codes are all `number` here.
Q4KWeight q4_k_weight_at(const std::vector<std::byte>& packed, std::int64_t rows, std::int64_t columns,
                         std::int64_t row, std::int64_t k) {
  const std::int64_t runs = (columns + 127) / 128;
  const std::int64_t codes = row * runs * 64 + k / 128 * 64 + k % 32 / 8 * 16 + k % 128 / 32 * 4;
  std::uint32_t part;
  std::memcpy(&part, packed.data() + codes, sizeof part);
  const std::uint32_t number = part >> (k % 2 * 16 + k % 8 / 2 * 4) & 15U;
  const std::int64_t lines = (columns + 255) / 256;
  const std::int64_t scales = rows * runs * 64 + (row / 8 * lines + k / 256) * 128 + row % 8 * 16;
  std::vector<std::byte> block(gguf::Q4_K::bytes);
  std::memcpy(block.data(), packed.data() + scales, 16);
  const auto value_of = [&](std::uint32_t code) {
    std::fill(block.begin() + 16, block.end(), static_cast<std::byte>(code | code << 4U));
    float values[gguf::Q4_K::weights];
    gguf::unpack_q4_k(block.data(), values);
    return values[k % 256];
  };
  const auto unit = [&](std::size_t at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, block.data() + at, sizeof bits);
    return std::abs(f16_to_float(bits));
  };
  return {value_of(number), std::abs(value_of(1) - value_of(0)), unit(0), unit(2)};
}

std::vector<float> numbers_of_row(const TensorView& tensor, std::int64_t row) {
  std::vector<float> values(static_cast<std::size_t>(tensor.columns));
  copy_row(tensor, row, values.data());
  return values;
}

TEST(PackQ4K, KeepsEveryNumberOfTheFile) {
  Random random(201);
  for (int round = 0; round < 2; ++round) {
    InQ4K model(random_checkpoint(random_q4_k_shape(random), DType::bf16, 1), random);
    const TensorView& matrix = model.packed().weights.layers[0].down;
    const auto packed = cuda::pack_groups(matrix, cuda::WeightFormat::q4_k);
    ASSERT_TRUE(packed);
    // Not a byte more than the file has.
    ASSERT_EQ(packed->size(), matrix.bytes());
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const std::vector<float> expected = numbers_of_row(matrix, row);
      const std::vector<float> numbers = numbers_of_row(model.widened().weights.layers[0].down, row);
      for (std::int64_t k = 0; k < matrix.columns; ++k) {
        const float found = q4_k_weight_at(*packed, matrix.rows, matrix.columns, row, k).value;
        ASSERT_EQ(found, expected[static_cast<std::size_t>(k)]) << row << ", " << k;
        ASSERT_EQ(bf16_to_float(float_to_bf16(found)), numbers[static_cast<std::size_t>(k)]);
      }
    }
  }
}

TEST(PackQ4K, RoundsPlainNumbersToWithinAStep) {
  Random random(202);
  for (int round = 0; round < 6; ++round) {
    const std::int64_t columns = std::int64_t{32} * pick(random, 1, 20);
    std::vector<float> values(static_cast<std::size_t>(7 * columns));
    for (float& value : values)
      value = 0.001F * static_cast<float>(pick(random, round % 3 == 0 ? 200 : -900, 900));
    const TensorView plain{reinterpret_cast<const std::byte*>(values.data()), DType::f32, 7, columns};
    const auto packed = cuda::pack_groups(plain, cuda::WeightFormat::q4_k);
    ASSERT_TRUE(packed);
    for (std::int64_t i = 0; i < 7 * columns; ++i) {
      const Q4KWeight found = q4_k_weight_at(*packed, 7, columns, i / columns, i % columns);
      // Half a step for the number; a scale and a minimum are rounded to multiples, which may move an end.
      const float error = std::abs(found.value - values[static_cast<std::size_t>(i)]);
      ASSERT_LE(error, 0.51F * found.step + 8.0F * found.unit + 0.6F * found.unit_of_minima) << i;
    }
  }
}

TEST(PackQ4K, IsNoneOfWhatIsNoFiniteNumber) {
  std::vector<float> values(2 * 64, 0.5F);
  const TensorView plain{reinterpret_cast<const std::byte*>(values.data()), DType::f32, 2, 64};
  EXPECT_TRUE(cuda::pack_groups(plain, cuda::WeightFormat::q4_k));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::max()}) {
    values[70] = bad;
    EXPECT_FALSE(cuda::pack_groups(plain, cuda::WeightFormat::q4_k)) << bad;
  }
  values.assign(values.size(), 1e-30F);  // units that fp16 has not
  const auto small = cuda::pack_groups(plain, cuda::WeightFormat::q4_k);
  ASSERT_TRUE(small);
  EXPECT_EQ(q4_k_weight_at(*small, 2, 64, 1, 63).value, 0.0F);
}

}  // namespace
}  // namespace draftscope::engine::test
