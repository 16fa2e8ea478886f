// SPDX-License-Identifier: GPL-3.0-or-later
#include "element_bits.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "gguf/widen.h"
#include "numbers/bf16.h"
#include "quantised/quantised_matrix.h"

namespace draftscope::engine {

namespace {

/// Rows that are widened together if integers lie along the outputs.
constexpr std::int64_t integer_rows = 128;

/// Finds a NaN or an infinity: exactly these have all exponent bits set. Whole blocks are tested first,
/// without a branch inside, so that the compiler makes vector code that reads at memory speed.
template <typename Bits>
std::optional<std::int64_t> find(const TensorView& tensor, Bits exponent) {
  const auto elements = static_cast<std::size_t>(tensor.rows * tensor.columns);
  const auto is_found = [&](std::size_t element) {
    const auto bits = load_unaligned<Bits>(tensor.data + element * sizeof(Bits));
    return (bits & exponent) == exponent;
  };
  constexpr std::size_t block = 4096;
  for (std::size_t begin = 0; begin < elements; begin += block) {
    const std::size_t end = std::min(elements, begin + block);
    Bits found = 0;
    for (std::size_t i = begin; i < end; ++i) found |= static_cast<Bits>(is_found(i) ? 1 : 0);
    for (std::size_t i = begin; found != 0 && i < end; ++i)
      if (is_found(i)) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> first_non_finite(const TensorView& tensor) {
  if (tensor.is_fp8()) {  // e4m3 has NaNs but no infinities.
    TensorView codes = tensor;
    codes.data += tensor.first_row * tensor.columns;
    return find<std::uint8_t>(codes, 0x7FU);
  }
  if (!tensor.is_plain()) {
    // Words of integers belong to several outputs.
    const std::int64_t step = tensor.quantised == nullptr ? 1 : integer_rows;
    for (std::int64_t row = 0; row < tensor.rows; row += step) {
      const std::int64_t rows = std::min(step, tensor.rows - row);
      const auto wide = widened_rows(tensor, row, rows);
      if (const auto found = first_non_finite({wide.data(), tensor.dtype, rows, tensor.columns}))
        return row * tensor.columns + *found;
    }
    return std::nullopt;
  }
  switch (tensor.dtype) {
    case DType::f32:
      return find<std::uint32_t>(tensor, 0x7F80'0000U);
    case DType::bf16:
      return find<std::uint16_t>(tensor, 0x7F80U);
    case DType::f16:
      return find<std::uint16_t>(tensor, 0x7C00U);
  }
  return std::nullopt;
}

void store_values(std::span<const float> values, DType dtype, std::byte* out) {
  if (dtype == DType::f32) {
    std::memcpy(out, values.data(), values.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint16_t bits = dtype == DType::bf16 ? float_to_bf16(values[i]) : float_to_f16(values[i]);
    std::memcpy(out + 2 * i, &bits, sizeof bits);
  }
}

std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first, std::int64_t rows) {
  if (tensor.blocks != nullptr) return gguf::widened_rows(tensor, first, rows);
  std::vector<std::byte> wide(static_cast<std::size_t>(rows * tensor.columns) * dtype_bytes(tensor.dtype));
  widen({{*tensor.quantised, tensor.first_row + first, rows, tensor.columns, tensor.dtype, wide.data()}});
  return wide;
}

void copy_row(const TensorView& tensor, std::int64_t row, float* out) {
  const std::int64_t n = tensor.columns;
  if (tensor.quantised != nullptr) return unpack(*tensor.quantised, tensor.first_row + row, 1, 0, n, out);
  const std::byte* data = tensor.data + static_cast<std::size_t>(row) * tensor.row_bytes();
  if (tensor.blocks != nullptr) {
    tensor.blocks->unpack(data, static_cast<std::size_t>(n) / tensor.blocks->weights, out);
    return;
  }
  switch (tensor.dtype) {
    case DType::f32:
      for (std::int64_t i = 0; i < n; ++i) out[i] = load_unaligned<float>(data + 4 * i);
      break;
    case DType::bf16:
      for (std::int64_t i = 0; i < n; ++i)
        out[i] = bf16_to_float(load_unaligned<std::uint16_t>(data + 2 * i));
      break;
    case DType::f16:
      for (std::int64_t i = 0; i < n; ++i) out[i] = f16_to_float(load_unaligned<std::uint16_t>(data + 2 * i));
      break;
  }
}

}  // namespace draftscope::engine
