// SPDX-License-Identifier: GPL-3.0-or-later
// Properties of row_layouts.h: every code and scale is what its format says, and any part of a matrix is that
// part of the whole.

#include "checkpoint/quantised/row_layouts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "checkpoint/quantised/quantised_matrix.h"

namespace draftscope::engine {
namespace {

const std::byte* bytes_at(const void* data) {
  return static_cast<const std::byte*>(data);
}

/// All 256 codes of a matrix in 8 bits, or each pair of codes in 4, with one scale a group.
struct AllCodes {
  std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(256);
  std::vector<std::uint8_t> scales;
  QuantisedMatrix matrix;

  AllCodes(const RowLayout& layout, std::int32_t bits, std::int64_t group,
           std::vector<std::uint8_t> own_scales)
      : scales(std::move(own_scales)) {
    std::iota(codes.begin(), codes.end(), std::uint8_t{0});
    matrix = {
        .form = PackedForm::rows, .bits = bits, .rows = 1, .columns = 256 * 8 / bits, .layout = &layout};
    matrix.values = bytes_at(codes.data());
    matrix.row_bytes = 256;
    matrix.block = {1, group};
    matrix.scales = bytes_at(scales.data());
  }

  [[nodiscard]] std::vector<float> weights(std::int64_t first, std::int64_t count) const {
    std::vector<float> out(static_cast<std::size_t>(count));
    unpack_rows(matrix, 0, 1, first, count, out.data());
    return out;
  }
};

TEST(RowCodes, E2m1HasTheEightValuesOfItsFormula) {
  const AllCodes all(compressed_layouts[3], 4, 512, {127});  // a scale of 1
  const auto weights = all.weights(0, 512);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const unsigned code = i % 2 == 0 ? i / 2 % 16 : i / 2 / 16;
    const unsigned exponent = code >> 1U & 3U;
    const double mantissa = (code & 1U) / 2.0;
    const double value = exponent == 0 ? mantissa : std::ldexp(1 + mantissa, static_cast<int>(exponent) - 1);
    ASSERT_EQ(weights[i], (code & 8U) != 0 ? -value : value) << i;
  }
}

TEST(RowCodes, EveryE8m0ScaleIsItsPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    const AllCodes all(compressed_layouts[3], 4, 512, {static_cast<std::uint8_t>(code)});
    ASSERT_EQ(static_cast<double>(all.weights(4, 1)[0]), std::ldexp(1.0, code - 127)) << code;  // code 2 is 1
  }
}

TEST(RowCodes, TheGlobalScaleDividesInCompressedTensorsAndMultipliesInModelopt) {
  for (const RowLayout& layout : {compressed_layouts[2], modelopt_layouts[0]}) {
    AllCodes all(layout, 4, 512, {0x30});  // a scale of 0.5
    all.matrix.global = 4;
    EXPECT_EQ(all.weights(4, 1)[0], layout.global_divides ? 0.125F : 2.0F);
  }
}

TEST(RowCodes, SignedBytesAreThemselves) {
  const float scale = 1;
  AllCodes all(compressed_layouts[1], 8, 256, {});
  all.matrix.scales = bytes_at(&scale);
  all.matrix.scale_dtype = DType::f32;
  const auto weights = all.weights(0, 256);
  for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(weights[i], static_cast<std::int8_t>(i));
}

TEST(RowCodes, AnyPartIsThatPartOfTheWhole) {
  const AllCodes all(compressed_layouts[3], 4, 32, std::vector<std::uint8_t>(16, 120));
  const auto whole = all.weights(0, 512);
  for (std::int64_t first = 0; first < 512; first += 13)
    for (const std::int64_t count : {1, 7, 31, 32, 33}) {
      if (first + count > 512) continue;
      const auto part = all.weights(first, count);
      ASSERT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + first)) << first << ' ' << count;
    }
}

}  // namespace
}  // namespace draftscope::engine
