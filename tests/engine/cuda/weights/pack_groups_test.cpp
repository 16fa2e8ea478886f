// SPDX-License-Identifier: GPL-3.0-or-later
// Matrices with groups as kernels read them, read here by their description (kernels/grouped_layout.h).

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <ostream>
#include <vector>

#include "checkpoint/element_bits.h"
#include "cuda/kernels/grouped_layout.h"
#include "cuda/weights/pack_groups.h"
#include "cuda_shapes.h"
#include "e4m3.h"
#include "formats/block_formats.h"
#include "numbers/bf16.h"
#include "packed_model.h"
#include "stored_formats.h"

namespace draftscope::engine::test {
namespace {

struct PackedMatrix {
  std::vector<std::byte> bytes;
  std::int64_t rows;
  std::int64_t columns;

  template <typename T>
  [[nodiscard]] T at(std::int64_t offset) const {
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  /// A code of 4 bits.
  [[nodiscard]] std::uint32_t nibble(std::int64_t row, std::int64_t k) const {
    const std::int64_t runs = (columns + 127) / 128;
    const auto part = at<std::uint32_t>(row * runs * 64 + k / 128 * 64 + k % 32 / 8 * 16 + k % 128 / 32 * 4);
    return part >> (k % 2 * 16 + k % 8 / 2 * 4) & 15U;
  }
};

/// A weight of a packed matrix, and its maximum distance from the plain number that it was rounded from.
struct PackedWeight {
  float value;
  float max_error;
};

PackedWeight int4_weight(const PackedMatrix& packed, std::int64_t row, std::int64_t k) {
  const std::int64_t runs = (packed.columns + 127) / 128;
  const std::int64_t lines = (packed.columns + 511) / 512;
  const auto word = packed.at<std::uint32_t>(packed.rows * runs * 64 + (row / 8 * lines + k / 512) * 128 +
                                             row % 8 * 16 + k % 512 / 128 * 4);
  const float scale = f16_to_float(static_cast<std::uint16_t>(word & 0xffffU));
  const float base_and_zero = -bf16_to_float(static_cast<std::uint16_t>(word >> 16U));
  // Half a step for the number, and half a step for the zero point, which may move an end out of range.
  return {(128.0F + static_cast<float>(packed.nibble(row, k)) - base_and_zero) * scale,
          1.01F * std::abs(scale)};
}

/// Scales and minima are read as in a file's block in which all codes equal the weight's code.
PackedWeight q4_k_weight(const PackedMatrix& packed, std::int64_t row, std::int64_t k) {
  const std::int64_t runs = (packed.columns + 127) / 128;
  const std::int64_t lines = (packed.columns + 255) / 256;
  const std::int64_t scales = packed.rows * runs * 64 + (row / 8 * lines + k / 256) * 128 + row % 8 * 16;
  constexpr std::uint32_t type = 12;  // Q4_K.
  const gguf::BlockFormat& format = *gguf::find_block_format(type);
  std::vector<std::byte> block(format.bytes);
  std::memcpy(block.data(), packed.bytes.data() + scales, 16);
  const auto value_of = [&](std::uint32_t code) {
    std::fill(block.begin() + 16, block.end(), static_cast<std::byte>(code | code << 4U));
    float values[256];
    format.unpack(block.data(), 1, values);
    return values[k % 256];
  };
  const auto unit = [&](std::int64_t at) {
    return std::abs(f16_to_float(packed.at<std::uint16_t>(scales + at)));
  };
  // Half a step for the number; a scale and a minimum are rounded to multiples, which may move an end.
  const float step = std::abs(value_of(1) - value_of(0));
  return {value_of(packed.nibble(row, k)), 0.51F * step + 8.0F * unit(0) + 0.6F * unit(2)};
}

struct Fp8Weight {
  std::uint8_t code;
  float scale;
  [[nodiscard]] float value() const {
    static const std::vector<float> values = e4m3_values();
    const float magnitude = values[code & 0x7fU] * scale;
    return (code & 0x80U) != 0 ? -magnitude : magnitude;
  }
};

Fp8Weight fp8_weight(const PackedMatrix& packed, std::int64_t row, std::int64_t k) {
  const std::int64_t runs = (packed.columns + 63) / 64;
  const std::int64_t word = row * runs * 64 + k / 64 * 64 + k % 32 / 8 * 16 + k % 64 / 32 * 8 + k % 8 / 4 * 4;
  const auto half = packed.at<std::uint16_t>(word + k % 2 * 2);
  const bool is_first = k % 4 < 2;
  const unsigned code =
      is_first ? (half >> 8U & 0x80U) | (half >> 7U & 0x7fU) : (half >> 7U & 0x80U) | (half & 0x7fU);
  const std::int64_t lines = (packed.columns + 511) / 512;
  const auto scale = packed.at<float>(packed.rows * runs * 64 + (row / 64 * lines + k / 512) * 128 +
                                      row / 8 % 8 * 16 + k % 512 / 128 * 4);
  return {static_cast<std::uint8_t>(code), scale / 256.0F};
}

struct Layout {
  const char* name;
  cuda::KernelFormat format;
  PackedWeight (*weight)(const PackedMatrix& packed, std::int64_t row, std::int64_t k);
  /// Bytes of a packed matrix.
  std::size_t (*bytes)(const TensorView& matrix);
  PackedModel (*model)(int round, Random& random);
  std::int32_t part_rows;  ///< The first row of a part of a matrix is a multiple of this; 0 = whole matrices.
  int rounds;
};

void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

Checkpoint one_layer(std::int32_t d_model, std::int32_t d_ff, Random& random) {
  speculation::ModelShape shape = tiny_cuda_shape();
  shape.n_layers = 1;
  shape.d_model = d_model;
  shape.d_ff = d_ff;
  return random_checkpoint(shape, DType::bf16, random());
}

constexpr Layout layouts[] = {
    {"int4", cuda::KernelFormat::int4, int4_weight,
     [](const TensorView& matrix) { return cuda::int4_layout.bytes(matrix.rows, matrix.columns); },
     [](int round, Random& random) {
       const Int4Form form{.form = round % 2 == 0 ? PackedForm::awq : PackedForm::gptq,
                           .group = 128 * (round % 4),
                           .zero_offset = round / 2 % 2};
       return in_int4(one_layer(8 * pick(random, 17, 40), 32 * pick(random, 1, 40), random), form, random);
     },
     1, 12},
    {"fp8_block", cuda::KernelFormat::fp8_block,
     [](const PackedMatrix& packed, std::int64_t row, std::int64_t k) {
       const Fp8Weight weight = fp8_weight(packed, row, k);
       // Half of the widest step between values, from 256 to 448, or of the narrowest.
       return PackedWeight{weight.value(),
                           std::max(std::abs(weight.value()) / 15.0F, weight.scale * 0x1p-10F)};
     },
     [](const TensorView& matrix) { return cuda::fp8_block_layout.bytes(matrix.rows, matrix.columns); },
     [](int round, Random& random) {
       const Fp8BlockForm form{.block = {8 << round % 5, 128 << round % 3},
                               .scales = round % 2 == 0 ? DType::f32 : DType::bf16};
       return in_fp8_block(one_layer(8 * pick(random, 17, 40), 32 * pick(random, 1, 40), random), form,
                           random);
     },
     8, 10},
    // It takes not a byte more than the file.
    {"q4_k", cuda::KernelFormat::q4_k, q4_k_weight, [](const TensorView& matrix) { return matrix.bytes(); },
     [](int /*round*/, Random& random) {
       const speculation::ModelShape shape = random_shape_of(stored_formats().back(), random);
       return in_q4_k(random_checkpoint(shape, DType::bf16, random()), random);
     },
     0, 2},
};

std::vector<float> row_of(const TensorView& tensor, std::int64_t row) {
  std::vector<float> values(static_cast<std::size_t>(tensor.columns));
  copy_row(tensor, row, values.data());
  return values;
}

TensorView tensor_of(const std::vector<float>& values, std::int64_t rows) {
  return {reinterpret_cast<const std::byte*>(values.data()), DType::f32, rows,
          static_cast<std::int64_t>(values.size()) / rows};
}

class PackGroups : public testing::TestWithParam<Layout> {
 protected:
  [[nodiscard]] static std::optional<PackedMatrix> packed(const TensorView& matrix) {
    auto bytes = cuda::pack_groups(matrix, GetParam().format);
    if (!bytes) return std::nullopt;
    return PackedMatrix{std::move(*bytes), matrix.rows, matrix.columns};
  }
};

/// Includes rows that begin and end anywhere in whole scales, as the parts of a fused matrix do.
TEST_P(PackGroups, KeepEveryNumberOfTheFile) {
  const Layout& layout = GetParam();
  Random random(181);
  for (int round = 0; round < layout.rounds; ++round) {
    PackedModel model = layout.model(round, random);
    const TensorView& whole = model.packed().weights.layers[0].down;
    std::int64_t first = 0;
    TensorView part = whole;
    if (layout.part_rows != 0) {
      first = layout.part_rows * pick(random, 0, 24 / layout.part_rows);
      part = whole.rows_from(first, pick(random, 1, static_cast<int>(whole.rows - first)));
    }
    SCOPED_TRACE(testing::Message() << "round " << round << ", " << part.rows << " x " << part.columns);
    const auto matrix = packed(part);
    ASSERT_TRUE(matrix);
    ASSERT_EQ(matrix->bytes.size(), layout.bytes(part));
    for (std::int64_t row = 0; row < part.rows; ++row) {
      const std::vector<float> expected = row_of(whole, first + row);
      const std::vector<float> numbers = row_of(model.widened().weights.layers[0].down, first + row);
      for (std::int64_t k = 0; k < part.columns; ++k) {
        const float found = layout.weight(*matrix, row, k).value;
        ASSERT_EQ(found, expected[static_cast<std::size_t>(k)]) << row << ", " << k;
        ASSERT_EQ(bf16_to_float(float_to_bf16(found)), numbers[static_cast<std::size_t>(k)]);
      }
    }
  }
}

TEST_P(PackGroups, RoundPlainNumbersToTheNearestSteps) {
  Random random(182);
  constexpr std::int64_t rows = 7;
  for (int round = 0; round < 9; ++round) {
    std::vector<float> values(static_cast<std::size_t>(rows * 32 * pick(random, 1, 20)));
    for (float& value : values) {
      value =
          0.001F * static_cast<float>(pick(random, round % 3 == 0 ? 200 : -900, round % 3 == 1 ? 30 : 900));
      if (round % 3 != 0 && chance(random, 0.1)) value = 0.0F;
    }
    const TensorView plain = tensor_of(values, rows);
    const auto matrix = packed(plain);
    ASSERT_TRUE(matrix);
    for (std::int64_t i = 0; i < rows * plain.columns; ++i) {
      const PackedWeight found = GetParam().weight(*matrix, i / plain.columns, i % plain.columns);
      const float value = values[static_cast<std::size_t>(i)];
      ASSERT_LE(std::abs(found.value - value), found.max_error) << i;
      if (GetParam().format == cuda::KernelFormat::q4_k) continue;  // Its zero is a minimum plus a multiple.
      ASSERT_TRUE(value != 0.0F || found.value == 0.0F) << i;
    }
  }
}

TEST_P(PackGroups, AreNoneOfNumbersThatAreNotFinite) {
  std::vector<float> values(2 * 64, 0.5F);
  const TensorView plain = tensor_of(values, 2);
  EXPECT_TRUE(packed(plain));
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::max()}) {  // It exceeds bf16 and fp16.
    values[70] = bad;
    EXPECT_FALSE(packed(plain)) << bad;
  }
  // fp16 has no such steps.
  for (const float small : {0.0F, std::numeric_limits<float>::denorm_min(), 1e-40F, 1e-30F}) {
    values.assign(values.size(), small);
    const auto matrix = packed(plain);
    ASSERT_TRUE(matrix);
    const float found = GetParam().weight(*matrix, 1, 63).value;
    EXPECT_LE(found, GetParam().format == cuda::KernelFormat::fp8_block ? 2 * small : 0.0F);
    EXPECT_GE(found, 0.0F);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PackGroups, testing::ValuesIn(layouts),
                         [](const auto& layout) { return layout.param.name; });

/// The expected result is the nearest by a search through all values; the largest of 128 × 128 weights
/// becomes 448.
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
  auto bytes = cuda::pack_groups(tensor_of(plain, rows), cuda::KernelFormat::fp8_block);
  ASSERT_TRUE(bytes);
  const PackedMatrix packed{std::move(*bytes), rows, columns};
  for (std::int64_t first = 0; first < rows; first += 128)
    for (std::int64_t k = 0; k < columns; k += 128) {
      float largest = 0.0F;
      const auto each = [&](auto&& visit) {
        for (std::int64_t i = first; i < std::min(rows, first + 128); ++i)
          for (std::int64_t j = k; j < std::min(columns, k + 128); ++j)
            visit(fp8_weight(packed, i, j), plain[static_cast<std::size_t>(i * columns + j)]);
      };
      each([&](const Fp8Weight&, float value) { largest = std::max(largest, std::abs(value)); });
      each([&](const Fp8Weight& found, float value) {
        EXPECT_EQ(found.scale, largest / 448.0F);
        EXPECT_EQ(found.code & 0x7fU, nearest_e4m3(value / found.scale, values) & 0x7fU) << value;
        EXPECT_EQ(found.value(), std::copysign(found.value(), value));
      });
    }
}

}  // namespace
}  // namespace draftscope::engine::test
