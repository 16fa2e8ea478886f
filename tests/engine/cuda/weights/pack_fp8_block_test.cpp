// SPDX-License-Identifier: GPL-3.0-or-later
// fp8_block as kernels read it, read here by its description (kernels/grouped_layout.h).

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
#include "cuda_shapes.h"
#include "e4m3.h"
#include "in_fp8_block.h"
#include "numbers/bf16.h"

namespace draftscope::engine::test {
namespace {

/// A weight of a packed matrix, by its code and its scale.
struct Fp8BlockWeight {
  std::uint8_t code;
  float scale;
  [[nodiscard]] float value() const {
    static const std::vector<float> values = e4m3_values();
    const float magnitude = values[code & 0x7fU] * scale;
    return (code & 0x80U) != 0 ? -magnitude : magnitude;
  }
};

Fp8BlockWeight fp8_block_weight_at(const std::vector<std::byte>& packed, std::int64_t rows,
                                   std::int64_t columns, std::int64_t row, std::int64_t k) {
  const std::int64_t runs = (columns + 63) / 64;
  const std::int64_t word = row * runs * 64 + k / 64 * 64 + k % 32 / 8 * 16 + k % 64 / 32 * 8 + k % 8 / 4 * 4;
  std::uint16_t half;
  std::memcpy(&half, packed.data() + word + k % 2 * 2, sizeof half);
  const bool is_first = k % 4 < 2;
  const unsigned code =
      is_first ? (half >> 8U & 0x80U) | (half >> 7U & 0x7fU) : (half >> 7U & 0x80U) | (half & 0x7fU);
  const std::int64_t lines = (columns + 511) / 512;
  const std::int64_t scales =
      rows * runs * 64 + (row / 64 * lines + k / 512) * 128 + row / 8 % 8 * 16 + k % 512 / 128 * 4;
  float scale;
  std::memcpy(&scale, packed.data() + scales, sizeof scale);
  return {static_cast<std::uint8_t>(code), scale / 256.0F};
}

/// Also of rows that begin and end anywhere, as those of a fused matrix's parts do, if they are whole scales.
TEST(PackFp8Block, KeepsEveryNumberOfTheFile) {
  Random random(221);
  for (int round = 0; round < 10; ++round) {
    const Fp8BlockForm form{.block = {8 << round % 5, 128 << round % 3},
                            .scales = round % 2 == 0 ? DType::f32 : DType::bf16};
    speculation::ModelShape shape = tiny_cuda_shape();
    shape.n_layers = 1;
    shape.d_model = 8 * pick(random, 17, 40);
    shape.d_ff = 32 * pick(random, 1, 40);
    InFp8Block model(random_checkpoint(shape, DType::bf16, random()), form, random);
    const TensorView& whole = model.packed().weights.layers[0].down;
    const std::int64_t first = 8 * pick(random, 0, 3);
    const TensorView part = whole.rows_from(first, pick(random, 1, static_cast<int>(whole.rows - first)));
    SCOPED_TRACE(testing::Message() << part.rows << " x " << part.columns << ", blocks of " << form.block.rows
                                    << " x " << form.block.columns);
    const auto packed = cuda::pack_fp8_block(part);
    ASSERT_TRUE(packed);
    ASSERT_EQ(packed->size(), cuda::fp8_block_layout.bytes(part.rows, part.columns));
    std::vector<float> expected(static_cast<std::size_t>(part.columns));
    std::vector<float> numbers(expected.size());
    for (std::int64_t row = 0; row < part.rows; ++row) {
      copy_row(whole, first + row, expected.data());
      copy_row(model.widened().weights.layers[0].down, first + row, numbers.data());
      for (std::int64_t k = 0; k < part.columns; ++k) {
        const Fp8BlockWeight found = fp8_block_weight_at(*packed, part.rows, part.columns, row, k);
        ASSERT_EQ(found.code, std::to_integer<std::uint8_t>(whole.data[(first + row) * part.columns + k]));
        ASSERT_EQ(found.value(), expected[static_cast<std::size_t>(k)]) << row << ", " << k;
        ASSERT_EQ(bf16_to_float(float_to_bf16(found.value())), numbers[static_cast<std::size_t>(k)]);
      }
    }
  }
}

/// The nearest by a search through all values; the largest of 128 × 128 weights becomes 448.
TEST(PackFp8Block, RoundsPlainNumbersToTheNearest) {
  Random random(222);
  const std::vector<float> values = e4m3_values();
  constexpr std::int64_t rows = 200;
  constexpr std::int64_t columns = 288;
  std::vector<float> plain(rows * columns);
  for (float& value : plain) {
    value = std::ldexp(static_cast<float>(pick(random, -999, 999)), pick(random, -22, 0));
    if (chance(random, 0.1)) value = 0.0F;
  }
  const TensorView tensor{reinterpret_cast<const std::byte*>(plain.data()), DType::f32, rows, columns};
  const auto packed = cuda::pack_fp8_block(tensor);
  ASSERT_TRUE(packed);
  for (std::int64_t first = 0; first < rows; first += 128)
    for (std::int64_t k = 0; k < columns; k += 128) {
      float largest = 0.0F;
      const auto each = [&](auto&& visit) {
        for (std::int64_t i = first; i < std::min(rows, first + 128); ++i)
          for (std::int64_t j = k; j < std::min(columns, k + 128); ++j)
            visit(fp8_block_weight_at(*packed, rows, columns, i, j),
                  plain[static_cast<std::size_t>(i * columns + j)]);
      };
      each([&](const Fp8BlockWeight&, float value) { largest = std::max(largest, std::abs(value)); });
      each([&](const Fp8BlockWeight& found, float value) {
        EXPECT_EQ(found.scale, largest / 448.0F);
        EXPECT_EQ(found.code & 0x7fU, nearest_e4m3(value / found.scale, values) & 0x7fU) << value;
        EXPECT_EQ(found.value(), std::copysign(found.value(), value));
      });
    }
}

TEST(PackFp8Block, IsNoneOfWhatIsNoFiniteNumber) {
  std::vector<float> values(2 * 64, 0.5F);
  const TensorView plain{reinterpret_cast<const std::byte*>(values.data()), DType::f32, 2, 64};
  EXPECT_TRUE(cuda::pack_fp8_block(plain));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::max()}) {  // which bf16 has not
    values[70] = bad;
    EXPECT_FALSE(cuda::pack_fp8_block(plain)) << bad;
  }
  for (const float small : {0.0F, std::numeric_limits<float>::denorm_min(), 1e-40F}) {
    values.assign(values.size(), small);
    const auto packed = cuda::pack_fp8_block(plain);
    ASSERT_TRUE(packed);
    EXPECT_LE(fp8_block_weight_at(*packed, 2, 64, 1, 63).value(), 2 * small);
  }
}

}  // namespace
}  // namespace draftscope::engine::test
