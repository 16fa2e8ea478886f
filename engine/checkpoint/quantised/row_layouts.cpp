// SPDX-License-Identifier: GPL-3.0-or-later
#include "row_layouts.h"

#include <algorithm>
#include <bit>

#include "checkpoint/element_bits.h"
#include "numbers/bf16.h"
#include "numbers/e4m3.h"
#include "quantised_matrix.h"

namespace draftscope::engine {
namespace {

constexpr std::array<float, 16> e2m1_values{0,     0.5F,  1,     1.5F,  2,     3,     4,     6,
                                            -0.0F, -0.5F, -1.0F, -1.5F, -2.0F, -3.0F, -4.0F, -6.0F};

/// Values of all codes of a kind.
constexpr std::array<float, 256> values_of(Code code) {
  std::array<float, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = code == Code::e2m1             ? e2m1_values[i % 16]
                : code == Code::e4m3           ? all_e4m3_values[i]
                : code == Code::signed_integer ? static_cast<float>(static_cast<std::int8_t>(i))
                                               : static_cast<float>(i);
  return values;
}

constexpr std::array<std::array<float, 256>, 4> all_values{values_of(Code::unsigned_integer),
                                                           values_of(Code::signed_integer),
                                                           values_of(Code::e2m1), values_of(Code::e4m3)};

/// The code of `bits` bits at a place of a row of bytes.
unsigned code_at(const std::byte* row, std::int64_t place, std::int32_t bits) {
  if (bits == 8) return std::to_integer<unsigned>(row[place]);
  return std::to_integer<unsigned>(row[place / 2]) >> (place % 2 * 4) & 15U;
}

float plain_at(const std::byte* numbers, DType dtype, std::int64_t index) {
  float number = 0.0F;
  copy_row({numbers + index * static_cast<std::int64_t>(dtype_bytes(dtype)), dtype, 1, 1}, 0, &number);
  return number;
}

float scale_of(const QuantisedMatrix& matrix, std::int64_t index) {
  const RowLayout& layout = *matrix.layout;
  float scale = 0.0F;
  if (layout.scale_code == ScaleCode::plain) {
    scale = plain_at(matrix.scales, matrix.scale_dtype, index);
  } else {
    const auto code = std::to_integer<std::uint8_t>(matrix.scales[index]);
    // The smallest power of two is subnormal.
    scale = layout.scale_code == ScaleCode::e4m3
                ? e4m3_value(code)
                : std::bit_cast<float>(code == 0 ? 0x0040'0000U : std::uint32_t{code} << 23U);
  }
  if (layout.global.empty()) return scale;
  return layout.global_divides ? scale / matrix.global : scale * matrix.global;
}

/// Zero point of an output's group; `index` is the group's among all.
float zero_of(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t index, std::int64_t row_groups) {
  if (matrix.zeros == nullptr) return static_cast<float>(matrix.zero);
  if (!matrix.has_packed_zeros)
    return static_cast<float>(static_cast<std::int8_t>(matrix.zeros[index])) +
           static_cast<float>(matrix.zero);
  const std::int64_t each = 32 / matrix.bits;
  const std::byte* const word = matrix.zeros + 4 * (row / each * row_groups + index % row_groups);
  return static_cast<float>(code_at(word, row % each, matrix.bits));
}

}  // namespace

void unpack_rows(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows,
                 std::int64_t first_column, std::int64_t columns, float* out) {
  const auto& values = all_values[static_cast<std::size_t>(matrix.layout->code)];
  const std::int64_t width = matrix.block.columns;
  const std::int64_t row_groups = (matrix.columns + width - 1) / width;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = first_row + r;
    const std::byte* const codes = matrix.values + row * matrix.row_bytes;
    for (std::int64_t c = 0; c < columns;) {
      const std::int64_t column = first_column + c;
      const bool in_order = matrix.groups == nullptr;
      const std::int64_t group =
          in_order ? column / width : load_unaligned<std::int32_t>(matrix.groups + 4 * column);
      const std::int64_t end = in_order ? std::min(columns, (group + 1) * width - first_column) : c + 1;
      const std::int64_t index = row / matrix.block.rows * row_groups + group;
      const float scale = scale_of(matrix, index);
      const float zero = zero_of(matrix, row, index, row_groups);
      const float minimum =
          matrix.minima == nullptr ? -0.0F : plain_at(matrix.minima, matrix.scale_dtype, index);
      for (; c < end; ++c)
        out[r * columns + c] =
            (values[code_at(codes, first_column + c, matrix.bits)] - zero) * scale + minimum;
    }
  }
}

}  // namespace draftscope::engine
