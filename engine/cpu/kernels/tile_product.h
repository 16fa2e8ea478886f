// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The product on matrix tiles (AMX), written against a small Tiles policy, so that tests run the same index
// logic on emulated tiles where the processor has none.
//
//   A tile   16 weight rows × 32 values of k, straight from the row-major matrix
//   B tile   16 pairs of k × up to 16 activation rows, the pairs side by side ("VNNI")
//   C tile   16 outputs × up to 16 activation rows, fp32
//
// A Tiles is made with the number of columns of B and C, and has zero() for C, add(weights, row_bytes, pairs)
// for one step of 32, and store(sums), which writes C as [16][16]. Order: k ascending, the same for every
// output, row and width. Values of k beyond the last whole step are added one by one after the tiles' sums;
// outputs beyond the last whole tile are taken from a tile that ends at the matrix's last row, and matrices
// of fewer than 16 rows do without tiles.

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.h"

namespace draftscope::engine::cpu {

inline constexpr std::int64_t tile_rows = 16;     ///< weight rows, and columns of activations
inline constexpr std::int64_t tile_depth = 32;    ///< bf16 values of k
inline constexpr std::int64_t tile_bytes = 1024;  ///< one B tile

/// A set is [group of 16 rows][step of 32 values][16 pairs][16 rows][2].
inline std::int64_t tile_steps(std::int64_t depth) {
  return (depth + tile_depth - 1) / tile_depth;
}
inline std::size_t tile_set_bytes(std::int32_t rows, std::int64_t depth) {
  return static_cast<std::size_t>((rows + tile_rows - 1) / tile_rows * tile_steps(depth) * tile_bytes);
}
inline std::byte* tile_element(std::byte* set, std::int32_t row, std::int64_t k, std::int64_t depth) {
  const std::int64_t step = row / tile_rows * tile_steps(depth) + k / tile_depth;
  const std::int64_t pair = k % tile_depth / 2;
  return set + step * tile_bytes + pair * 64 + row % tile_rows * 4 + k % 2 * 2;
}

inline std::uint16_t tile_round(float value) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U
                                           : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
inline float tile_widen(const std::byte* at) {
  std::uint16_t half = 0;
  __builtin_memcpy(&half, at, sizeof half);
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value = 0.0F;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

inline void tile_pack(const float* row, std::int32_t index, std::int64_t depth, std::byte* set) {
  for (std::int64_t k = 0; k < tile_steps(depth) * tile_depth; ++k) {
    const std::uint16_t rounded = k < depth ? tile_round(row[k]) : std::uint16_t{0};
    __builtin_memcpy(tile_element(set, index, k, depth), &rounded, sizeof rounded);
  }
}

/// Σ over k in [first, depth), one by one.
inline float tile_rest(const ProductTask& task, std::int64_t output, std::int32_t row, std::int64_t first) {
  // tile_element only computes an address; nothing is written through it here.
  auto* set = const_cast<std::byte*>(task.activations);
  float sum = 0.0F;
  for (std::int64_t k = first; k < task.depth; ++k)
    sum += tile_widen(task.weights + (output * task.depth + k) * 2) *
           tile_widen(tile_element(set, row, k, task.depth));
  return sum;
}

inline void tile_finish(const ProductTask& task, std::int64_t output, std::int32_t row, float dot) {
  dot += task.bias != nullptr ? task.bias[output] : 0.0F;
  float& out = task.out[row * task.out_stride + output];
  out = task.accumulate ? out + dot : dot;
}

template <typename Tiles>
void tile_product(const ProductTask& task, std::int64_t begin, std::int64_t end) {
  const std::int64_t whole = task.depth / tile_depth * tile_depth;
  if (task.outputs < tile_rows) {
    for (std::int64_t output = begin; output < end; ++output)
      for (std::int32_t row = 0; row < task.rows; ++row)
        tile_finish(task, output, row, tile_rest(task, output, row, 0));
    return;
  }
  alignas(64) float sums[tile_rows][tile_rows];
  for (std::int64_t output = begin; output < end; output += tile_rows) {
    // The last tile ends at the matrix's last row; rows outside [begin, end) are computed and dropped.
    const std::int64_t first = output + tile_rows <= task.outputs ? output : task.outputs - tile_rows;
    for (std::int32_t row = 0; row < task.rows; row += tile_rows) {
      const std::int64_t columns = task.rows - row < tile_rows ? task.rows - row : tile_rows;
      const std::byte* group = task.activations + row / tile_rows * tile_steps(task.depth) * tile_bytes;
      Tiles tiles(static_cast<int>(columns));
      tiles.zero();
      for (std::int64_t k = 0; k < whole; k += tile_depth)
        tiles.add(task.weights + (first * task.depth + k) * 2, task.depth * 2,
                  group + k / tile_depth * tile_bytes);
      tiles.store(&sums[0][0]);
      for (std::int64_t o = output - first; o < tile_rows && first + o < end; ++o)
        for (std::int64_t column = 0; column < columns; ++column) {
          const auto at = static_cast<std::int32_t>(row + column);
          tile_finish(task, first + o, at, sums[o][column] + tile_rest(task, first + o, at, whole));
        }
    }
  }
}

}  // namespace draftscope::engine::cpu
