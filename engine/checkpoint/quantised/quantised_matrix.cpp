// SPDX-License-Identifier: GPL-3.0-or-later
#include "quantised_matrix.h"

#include <draftscope/base/parallel.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <span>

#include "checkpoint/element_bits.h"
#include "checkpoint/row_parts.h"
#include "numbers/bf16.h"
#include "numbers/e4m3.h"

namespace draftscope::engine {
namespace {

/// Outputs and inputs that are unpacked together: a cache line of words that lie along the outputs, and a
/// cache line of written numbers.
constexpr std::int64_t tile_rows = 128;
constexpr std::int64_t tile_columns = 64;

constexpr std::int64_t word_bits = 32;

/// Nibble of AWQ's words that contains each of eight outputs.
constexpr std::array<int, 8> awq_places{0, 4, 1, 5, 2, 6, 3, 7};

float scale_at(const QuantisedMatrix& matrix, std::int64_t index) {
  const std::byte* const place =
      matrix.scales + index * static_cast<std::int64_t>(dtype_bytes(matrix.scale_dtype));
  if (matrix.scale_dtype == DType::f32) return load_unaligned<float>(place);
  const auto bits = load_unaligned<std::uint16_t>(place);
  return matrix.scale_dtype == DType::bf16 ? bf16_to_float(bits) : f16_to_float(bits);
}

/// Extracts a number of `bits` bits from a row of 32-bit words.
int number_at(const std::byte* words, std::int64_t word, int place, int bits) {
  const auto value = load_unaligned<std::uint32_t>(words + 4 * word);
  return static_cast<int>(value >> static_cast<unsigned>(place * bits) & ((1U << bits) - 1U));
}

/// Place of a number that is packed along the outputs.
struct OutputPlace {
  std::int64_t word;
  int place;
};
OutputPlace output_place(const QuantisedMatrix& matrix, std::int64_t row) {
  const std::int64_t each = word_bits / matrix.bits;
  const auto place = static_cast<std::size_t>(row % each);
  return {row / each, matrix.form == PackedForm::awq ? awq_places[place] : static_cast<int>(place)};
}

std::int64_t group_of(const QuantisedMatrix& matrix, std::int64_t column) {
  if (matrix.groups == nullptr) return column / matrix.block.columns;
  return load_unaligned<std::int32_t>(matrix.groups + 4 * column);
}

/// Calls begin(c) for each column of a part, and then take(r, c, number) for each of its rows.
template <std::int64_t bits, typename Begin, typename Take>
void walk_numbers(const QuantisedMatrix& matrix, const MatrixPart& part, const Begin& begin,
                  const Take& take) {
  constexpr std::int64_t each = word_bits / bits;
  const std::int64_t row_words = matrix.rows / each;
  const bool along_outputs = matrix.form == PackedForm::awq;
  for (std::int64_t c = 0; c < part.columns; ++c) {
    const std::int64_t column = part.first_column + c;
    begin(c);
    for (std::int64_t r = 0; r < part.rows; ++r) {
      const std::int64_t row = part.first_row + r;
      take(r, c,
           along_outputs ? number_at(matrix.values, column * row_words + row / each,
                                     awq_places[static_cast<std::size_t>(row % each)], bits)
                         : number_at(matrix.values, column / each * matrix.rows + row,
                                     static_cast<int>(column % each), bits));
    }
  }
}

template <typename Begin, typename Take>
void walk_numbers(const QuantisedMatrix& matrix, const MatrixPart& part, const Begin& begin,
                  const Take& take) {
  if (matrix.bits == 4) return walk_numbers<4>(matrix, part, begin, take);
  walk_numbers<8>(matrix, part, begin, take);
}

void unpack_integers(const QuantisedMatrix& matrix, const MatrixPart& part, float* out) {
  std::array<GroupScale, tile_rows> scales{};
  std::int64_t known = -1;
  const auto begin = [&](std::int64_t c) {
    const std::int64_t group = group_of(matrix, part.first_column + c);
    for (std::int64_t r = 0; group != known && r < part.rows; ++r)
      scales[static_cast<std::size_t>(r)] = group_scale(matrix, part.first_row + r, group);
    known = group;
  };
  walk_numbers(matrix, part, begin, [&](std::int64_t r, std::int64_t c, int number) {
    const auto& [scale, zero] = scales[static_cast<std::size_t>(r)];
    out[r * part.columns + c] = static_cast<float>(number - zero) * scale;
  });
}

void unpack_fp8(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows,
                std::int64_t first_column, std::int64_t columns, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t row = first_row + r;
    const std::byte* const values = matrix.values + row * matrix.columns + first_column;
    for (std::int64_t c = 0; c < columns;) {
      const std::int64_t block = (first_column + c) / matrix.block.columns;
      const std::int64_t end = std::min(columns, (block + 1) * matrix.block.columns - first_column);
      const float scale = fp8_scale(matrix, row, first_column + c);
      for (; c < end; ++c)
        out[r * columns + c] = e4m3_value(std::to_integer<std::uint8_t>(values[c])) * scale;
    }
  }
}

}  // namespace

std::string QuantisedMatrix::text() const {
  const QuantisationConfig config{.form = form, .bits = bits, .layout = layout};
  return fmt::format("{} [{}, {}] with scales of [{}, {}] in {}{}", config.name(), rows, columns,
                     std::min(block.rows, rows), std::min(block.columns, columns), dtype_name(scale_dtype),
                     groups == nullptr ? "" : ", out of order");
}

GroupScale group_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t group) {
  const OutputPlace own = output_place(matrix, row);
  const std::int64_t row_words = matrix.rows * matrix.bits / word_bits;
  const int stored = number_at(matrix.zeros, group * row_words + own.word, own.place, matrix.bits);
  // If one is subtracted first, a zero point of 0 is stored as the largest number.
  const int largest = (1 << matrix.bits) - 1;
  return {scale_at(matrix, group * matrix.rows + row), (stored + matrix.zero_offset) & largest};
}

float fp8_scale(const QuantisedMatrix& matrix, std::int64_t row, std::int64_t column) {
  const std::int64_t row_scales = (matrix.columns + matrix.block.columns - 1) / matrix.block.columns;
  return scale_at(matrix, row / matrix.block.rows * row_scales + column / matrix.block.columns);
}

void unpack_numbers(const QuantisedMatrix& matrix, const MatrixPart& part, std::uint8_t* out) {
  walk_numbers(
      matrix, part, [](std::int64_t /*c*/) {},
      [&](std::int64_t r, std::int64_t c, int number) {
        out[r * part.columns + c] = static_cast<std::uint8_t>(number);
      });
}

void unpack(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows,
            std::int64_t first_column, std::int64_t columns, float* out) {
  if (matrix.form == PackedForm::fp8) return unpack_fp8(matrix, first_row, rows, first_column, columns, out);
  if (matrix.form == PackedForm::rows)
    return unpack_rows(matrix, first_row, rows, first_column, columns, out);
  for (std::int64_t done = 0; done < rows; done += tile_rows)
    unpack_integers(matrix, {first_row + done, std::min(tile_rows, rows - done), first_column, columns},
                    out + done * columns);
}

void widen(const std::vector<WidenedMatrix>& matrices) {
  struct Size {
    std::int64_t rows;
    std::int64_t columns;
  };
  // Parts are whole tiles of rows, so that no two threads read the same words.
  const auto parts = row_parts(matrices, 1, [](const WidenedMatrix& own) {
    return Size{(own.rows + tile_rows - 1) / tile_rows, 1};
  });
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const RowPart& part = parts[index];
    const WidenedMatrix& own = matrices[part.tensor];
    const auto number = static_cast<std::int64_t>(dtype_bytes(own.dtype));
    std::vector<float> tile(static_cast<std::size_t>(tile_rows * tile_columns));
    const std::int64_t row = part.first_row * tile_rows;
    const std::int64_t rows = std::min(tile_rows, own.rows - row);
    for (std::int64_t column = 0; column < own.columns; column += tile_columns) {
      const std::int64_t columns = std::min(tile_columns, own.columns - column);
      unpack(own.matrix, own.first_row + row, rows, column, columns, tile.data());
      for (std::int64_t r = 0; r < rows; ++r)
        store_values(
            std::span(tile).subspan(static_cast<std::size_t>(r * columns), static_cast<std::size_t>(columns)),
            own.dtype, own.out + ((row + r) * own.columns + column) * number);
    }
  });
}

void output_scales(const QuantisedMatrix& matrix, std::int64_t first_row, std::int64_t rows, float* out) {
  for (std::int64_t r = 0; r < rows; ++r) out[r] = scale_at(matrix, (first_row + r) / matrix.block.rows);
}

}  // namespace draftscope::engine
