// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The product on matrix tiles (AMX), written against a small Tiles policy, so that tests run the same index
// logic on emulated tiles where the processor has none.
//
//   A tile   16 weight rows × 32 values of k, directly from the row-major matrix
//   B tile   16 pairs of k × up to 16 activation rows, the pairs side by side ("VNNI")
//   C tile   16 outputs × up to 16 activation rows, fp32
//
// One step of 32 multiplies one or two A tiles with one or two B tiles, so that four sums wait for each other
// as little as possible. Weights are read from memory once for 32 rows, and from the second-level cache again
// for more; the next lines are prefetched meanwhile.
//
// A Tiles object is made with the columns of its two groups of activation rows (the second may be 0). It has
// zero(), add<weights, groups>(weights, row_bytes, pairs, group_bytes) for a step, and
// store<weight, group>(sums), which writes a C tile transposed, [column][16 outputs]. The order of sums is
// ascending k, for every output, row and width. Values of k beyond the last whole step are added one by one
// after the tiles' sums. Outputs beyond the last whole tile come from a tile that ends at the matrix's last
// row, and matrices of fewer than 16 rows do not use tiles.

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.h"

namespace draftscope::engine::cpu {

inline constexpr std::int64_t tile_rows = 16;     ///< weight rows, or columns of activations
inline constexpr std::int64_t tile_depth = 32;    ///< bf16 values of k
inline constexpr std::int64_t tile_bytes = 1024;  ///< bytes of one B tile

/// Steps of k. A set is [group of 16 rows][step of 32 values][16 pairs][16 rows][2].
[[gnu::always_inline]] inline std::int64_t tile_steps(std::int64_t depth) {
  return (depth + tile_depth - 1) / tile_depth;
}
[[gnu::always_inline]] inline std::size_t tile_set_bytes(std::int32_t rows, std::int64_t depth) {
  return static_cast<std::size_t>((rows + tile_rows - 1) / tile_rows * tile_steps(depth) * tile_bytes);
}
[[gnu::always_inline]] inline std::byte* tile_element(std::byte* set, std::int32_t row, std::int64_t k,
                                                      std::int64_t depth) {
  const std::int64_t step = row / tile_rows * tile_steps(depth) + k / tile_depth;
  const std::int64_t pair = k % tile_depth / 2;
  return set + step * tile_bytes + pair * 64 + row % tile_rows * 4 + k % 2 * 2;
}

[[gnu::always_inline]] inline std::uint16_t tile_round(float value) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const bool is_nan = (bits & 0x7fffffffU) > 0x7f800000U;
  return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x40U
                                           : (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}
[[gnu::always_inline]] inline float tile_widen(const std::byte* at) {
  std::uint16_t half = 0;
  __builtin_memcpy(&half, at, sizeof half);
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value = 0.0F;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

[[gnu::always_inline]] inline void tile_pack(const float* row, std::int32_t index, std::int64_t depth,
                                             std::byte* set) {
  for (std::int64_t k = 0; k < tile_steps(depth) * tile_depth; ++k) {
    const std::uint16_t rounded = k < depth ? tile_round(row[k]) : std::uint16_t{0};
    __builtin_memcpy(tile_element(set, index, k, depth), &rounded, sizeof rounded);
  }
}

/// Sums over k in [first, depth), one by one.
[[gnu::always_inline]] inline float tile_rest(const ProductTask& task, std::int64_t output, std::int32_t row,
                                              std::int64_t first) {
  // tile_element only computes an address; nothing is written through it here.
  auto* set = const_cast<std::byte*>(task.activations);
  float sum = 0.0F;
  for (std::int64_t k = first; k < task.depth; ++k)
    sum += tile_widen(task.weights + (output * task.depth + k) * 2) *
           tile_widen(tile_element(set, row, k, task.depth));
  return sum;
}

[[gnu::always_inline]] inline void tile_finish(const ProductTask& task, std::int64_t output, std::int32_t row,
                                               float dot) {
  dot += task.bias != nullptr ? task.bias[output] : 0.0F;
  float& out = task.out[row * task.out_stride + output];
  out = task.accumulate ? out + dot : dot;
}

/// Bytes of weights that stay in the second-level cache while several pairs of groups use them.
inline constexpr std::int64_t tile_band_bytes = 512 * 1024;

/// Adds the sums of a C tile, [columns][16] from output `first` on, to outputs [begin, end).
[[gnu::always_inline]] inline void tile_finish_group(const ProductTask& task, std::int64_t first,
                                                     std::int64_t begin, std::int64_t end,
                                                     std::int32_t first_row, int columns,
                                                     const float (&sums)[tile_rows][tile_rows]) {
  const std::int64_t whole = task.depth / tile_depth * tile_depth;
  if (whole == task.depth && task.bias == nullptr && begin == first && end == first + tile_rows) {
    for (int column = 0; column < columns; ++column) {
      const float* __restrict dots = sums[column];
      float* __restrict out = task.out + (first_row + column) * task.out_stride + first;
      if (task.accumulate)
        for (std::int64_t o = 0; o < tile_rows; ++o) out[o] = out[o] + dots[o];
      else
        for (std::int64_t o = 0; o < tile_rows; ++o) out[o] = dots[o];
    }
    return;
  }
  for (int column = 0; column < columns; ++column)
    for (std::int64_t o = begin; o < end; ++o)
      tile_finish(task, o, first_row + column,
                  sums[column][o - first] + tile_rest(task, o, first_row + column, whole));
}

/// Computes outputs [begin, end), which lie in `weights` tiles from output `first` on, for rows from
/// first_row on.
template <typename Tiles, int weights, int groups>
void tile_block(Tiles& tiles, const ProductTask& task, std::int64_t first, std::int64_t begin,
                std::int64_t end, std::int32_t first_row, bool prefetching) {
  constexpr std::int64_t line = 64;
  const std::int64_t row_bytes = task.depth * 2;
  const std::int64_t steps = task.depth / tile_depth;
  const std::int64_t group_bytes = tile_steps(task.depth) * tile_bytes;
  const std::byte* at = task.weights + first * row_bytes;
  const std::byte* pairs = task.activations + first_row / tile_rows * group_bytes;
  const std::byte* next = at + weights * tile_rows * row_bytes;
  tiles.zero();
  for (std::int64_t step = 0; step < steps; ++step) {
    if (prefetching) {
#pragma GCC unroll 32
      for (std::int64_t i = 0; i < weights * tile_rows; ++i) __builtin_prefetch(next + i * line, 0, 2);
      next += weights * tile_rows * line;
    }
    tiles.template add<weights, groups>(at, row_bytes, pairs, group_bytes);
    at += tile_depth * 2;
    pairs += tile_bytes;
  }
  alignas(64) float sums[tile_rows][tile_rows];
  const auto finish = [&](int weight, int group) {
    const std::int64_t from = first + weight * tile_rows;
    const std::int32_t row = first_row + group * static_cast<std::int32_t>(tile_rows);
    const std::int64_t left = task.rows - row;
    tile_finish_group(task, from, begin > from ? begin : from,
                      end < from + tile_rows ? end : from + tile_rows, row,
                      static_cast<int>(left < tile_rows ? left : tile_rows), sums);
  };
  tiles.template store<0, 0>(sums);
  finish(0, 0);
  if constexpr (groups > 1) {
    tiles.template store<0, 1>(sums);
    finish(0, 1);
  }
  if constexpr (weights > 1) {
    tiles.template store<1, 0>(sums);
    finish(1, 0);
  }
  if constexpr (weights > 1 && groups > 1) {
    tiles.template store<1, 1>(sums);
    finish(1, 1);
  }
}

/// Computes outputs [begin, end) for one or two groups of rows from first_row on.
template <typename Tiles, int groups>
void tile_groups(const ProductTask& task, std::int64_t begin, std::int64_t end, std::int32_t first_row,
                 bool prefetching) {
  const auto columns_from = [&](std::int32_t row) {
    return static_cast<int>(task.rows - row < tile_rows ? task.rows - row : tile_rows);
  };
  Tiles tiles(columns_from(first_row),
              groups > 1 ? columns_from(first_row + static_cast<std::int32_t>(tile_rows)) : 0);
  std::int64_t output = begin;
  for (; output + 2 * tile_rows <= end; output += 2 * tile_rows)
    tile_block<Tiles, 2, groups>(tiles, task, output, output, output + 2 * tile_rows, first_row, prefetching);
  for (; output < end; output += tile_rows) {
    // The last tile ends at the matrix's last row; rows outside [begin, end) are computed and dropped.
    const std::int64_t first = output + tile_rows <= task.outputs ? output : task.outputs - tile_rows;
    const std::int64_t to = output + tile_rows < end ? output + tile_rows : end;
    tile_block<Tiles, 1, groups>(tiles, task, first, output, to, first_row, prefetching);
  }
}

template <typename Tiles>
void tile_product(const ProductTask& task, std::int64_t begin, std::int64_t end) {
  if (task.outputs < tile_rows) {
    for (std::int64_t output = begin; output < end; ++output)
      for (std::int32_t row = 0; row < task.rows; ++row)
        tile_finish(task, output, row, tile_rest(task, output, row, 0));
    return;
  }
  constexpr std::int64_t block = 2 * tile_rows;
  const std::int64_t fit = tile_band_bytes / (task.depth * 2 * block);
  const std::int64_t band = task.rows <= block ? end - begin : block * (fit > 1 ? fit : 1);
  for (std::int64_t output = begin; output < end; output += band) {
    const std::int64_t to = output + band < end ? output + band : end;
    for (std::int32_t row = 0; row < task.rows; row += static_cast<std::int32_t>(block)) {
      if (task.rows - row > tile_rows)
        tile_groups<Tiles, 2>(task, output, to, row, row == 0);
      else
        tile_groups<Tiles, 1>(task, output, to, row, row == 0);
    }
  }
}

}  // namespace draftscope::engine::cpu
