// SPDX-License-Identifier: GPL-3.0-or-later
#include "round_to_e4m3.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "checkpoint/element_bits.h"
#include "checkpoint/row_parts.h"
#include "numbers/e4m3.h"

namespace draftscope::engine::cpu {
namespace {

/// Rounds the values of a tile, [rows] spans of its columns.
void round_tile(std::span<const std::span<float>> rows) {
  float largest = 0.0F;
  bool finite = true;
  for (const std::span<float> row : rows)
    for (const float value : row) {
      largest = std::max(largest, std::abs(value));
      finite = finite && std::isfinite(value);
    }
  const float scale = largest / largest_e4m3_value;
  for (const std::span<float> row : rows)
    for (float& value : row) {
      if (!finite)
        value = std::numeric_limits<float>::quiet_NaN();
      else
        value = scale > 0.0F ? e4m3_value(nearest_e4m3_code(value / scale)) * scale : 0.0F;
    }
}

/// Rounds rows [first, end), which are whole tiles or end with the tensor.
void round_rows(const E4m3Tensor& tensor, E4m3Tile tile, DType dtype, std::int64_t first, std::int64_t end) {
  const std::int64_t columns = tensor.source.columns;
  const std::int64_t width = tile.columns > 0 ? tile.columns : columns;
  std::vector<float> values(static_cast<std::size_t>((end - first) * columns));
  const auto row = [&](std::int64_t index) {
    return std::span(values).subspan(static_cast<std::size_t>((index - first) * columns),
                                     static_cast<std::size_t>(columns));
  };
  // Packed numbers are rounded to the type that they widen to first, as on a GPU.
  std::vector<std::byte> widened;
  TensorView plain = tensor.source;
  std::int64_t skipped = 0;
  if (!plain.is_plain()) {
    widened = widened_rows(tensor.source, first, end - first);
    plain = {widened.data(), tensor.source.dtype, end - first, columns};
    skipped = first;
  }
  for (std::int64_t index = first; index < end; ++index) copy_row(plain, index - skipped, row(index).data());
  std::vector<std::span<float>> rows;
  for (std::int64_t top = first; top < end; top += tile.rows)
    for (std::int64_t left = 0; left < columns; left += width) {
      rows.clear();
      for (std::int64_t index = top; index < std::min(end, top + tile.rows); ++index)
        rows.push_back(row(index).subspan(static_cast<std::size_t>(left),
                                          static_cast<std::size_t>(std::min(width, columns - left))));
      round_tile(rows);
    }
  store_values(values, dtype, tensor.data + static_cast<std::size_t>(first * columns) * dtype_bytes(dtype));
}

}  // namespace

std::optional<E4m3Tile> e4m3_tile(speculation::WeightFormat format) {
  if (format == speculation::WeightFormat::fp8) return E4m3Tile{};
  if (format == speculation::WeightFormat::fp8_block) return E4m3Tile{128, 128};
  return std::nullopt;
}

void round_to_e4m3(const std::vector<E4m3Tensor>& tensors, E4m3Tile tile, DType dtype) {
  constexpr std::int64_t part_weights = std::int64_t{1} << 20;
  struct Tiles {
    std::int64_t rows, columns;
  };
  const std::vector<RowPart> parts = row_parts(tensors, part_weights, [&](const E4m3Tensor& tensor) {
    return Tiles{(tensor.source.rows + tile.rows - 1) / tile.rows, tile.rows * tensor.source.columns};
  });
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const RowPart& part = parts[index];
    const E4m3Tensor& tensor = tensors[part.tensor];
    round_rows(tensor, tile, dtype, part.first_row * tile.rows,
               std::min(tensor.source.rows, (part.first_row + part.rows) * tile.rows));
  });
}

}  // namespace draftscope::engine::cpu
