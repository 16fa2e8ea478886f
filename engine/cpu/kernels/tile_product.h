// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The product on matrix tiles (AMX), written against a small Tiles policy, so that tests run the same index
// logic on emulated tiles where the processor has none.
//
//   A tile   16 weight rows × 32 values of k, straight from the row-major matrix
//   B tile   16 pairs of k × up to 16 activation rows, the pairs side by side ("VNNI")
//   C tile   16 outputs × up to 16 activation rows, fp32
//
// One step of 32 multiplies one or two A tiles with one or two B tiles, so that four sums wait for each other
// as little as they can. Weights are read from memory once for 32 rows, and from the second cache again for
// more; the lines that come next are asked for meanwhile.
//
// A Tiles is made with the columns of its two groups of activation rows (the second may be 0), and has
// zero(), add<weights, groups>(weights, row_bytes, pairs, group_bytes) for a step, and
// store<weight, group>(sums), which writes a C tile turned, [column][16 outputs]. Order: k of a part
// ascending, the same for every output, row and width, and parts as neighbours (parts.h). Values of k beyond
// a part's last whole step are added one by one after the tiles' sums; outputs beyond the last whole tile are
// taken from a tile that ends at the matrix's last row, and matrices of fewer than 16 rows do without tiles.

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.h"

namespace draftscope::engine::cpu {

inline constexpr std::int64_t tile_rows = 16;     ///< weight rows, and columns of activations
inline constexpr std::int64_t tile_depth = 32;    ///< bf16 values of k
inline constexpr std::int64_t tile_bytes = 1024;  ///< one B tile

/// A set is [group of 16 rows][part][step of 32 values][16 pairs][16 rows][2].
[[gnu::always_inline]] inline std::int64_t tile_steps(std::int64_t depth) {
  return (depth + tile_depth - 1) / tile_depth;
}
[[gnu::always_inline]] inline std::size_t tile_set_bytes(std::int32_t rows, std::int64_t depth,
                                                         std::int64_t parts) {
  return static_cast<std::size_t>((rows + tile_rows - 1) / tile_rows * parts * tile_steps(depth) *
                                  tile_bytes);
}
/// One part of a set: the set of a matrix of that depth alone, whose groups are further apart.
struct TilePart {
  std::int64_t depth;
  std::int64_t parts;
  std::int64_t part;
};
[[gnu::always_inline]] inline std::byte* tile_element(std::byte* set, std::int32_t row, std::int64_t k,
                                                      const TilePart& of) {
  const std::int64_t step = (row / tile_rows * of.parts + of.part) * tile_steps(of.depth) + k / tile_depth;
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
                                             std::int64_t parts, std::byte* set) {
  for (std::int64_t part = 0; part < parts; ++part)
    for (std::int64_t k = 0; k < tile_steps(depth) * tile_depth; ++k) {
      const std::uint16_t rounded = k < depth ? tile_round(row[part * depth + k]) : std::uint16_t{0};
      __builtin_memcpy(tile_element(set, index, k, {depth, parts, part}), &rounded, sizeof rounded);
    }
}

/// Σ over k in [first, depth) of a part, one by one.
[[gnu::always_inline]] inline float tile_rest(const ProductTask& task, std::int64_t part, std::int64_t output,
                                              std::int32_t row, std::int64_t first) {
  // tile_element only computes an address; nothing is written through it here.
  auto* set = const_cast<std::byte*>(task.activations);
  float sum = 0.0F;
  for (std::int64_t k = first; k < task.depth; ++k)
    sum += tile_widen(task.weights + ((part * task.outputs + output) * task.depth + k) * 2) *
           tile_widen(tile_element(set, row, k, {task.depth, task.parts, part}));
  return sum;
}

/// Without tiles.
[[gnu::always_inline]] inline void tile_plain(const ProductTask& task, std::int64_t output,
                                              std::int32_t row) {
  float dot[1] = {};
  WaitingSums<1> waiting;
  for (std::int64_t part = 0; part < task.parts; ++part) {
    dot[0] = tile_rest(task, part, output, row, 0);
    if (part == 0) dot[0] += task.bias != nullptr ? task.bias[output] : 0.0F;
    add_to_neighbours(part, task.parts, dot, waiting);
  }
  float& out = task.out[row * task.out_stride + output];
  out = task.accumulate ? out + dot[0] : dot[0];
}

/// A C tile's outputs [begin, end) and rows, of all that it has from `output` and `row` on.
struct TilePlace {
  std::int64_t output, begin, end;
  std::int32_t row;
  int columns;
};

/// A C tile, [column][16 outputs], and what waits for its neighbours.
struct TileSums {
  alignas(64) float sums[tile_rows][tile_rows];
  alignas(64) WaitingSums<tile_rows> waiting[tile_rows];
};

/// The end of a part: what is left of k and the bias are added, then the neighbours.
[[gnu::always_inline]] inline void tile_end_part(const ProductTask& task, std::int64_t part,
                                                 const TilePlace& at, TileSums& tile) {
  const std::int64_t whole = task.depth / tile_depth * tile_depth;
  const bool biased = part == 0 && task.bias != nullptr;
  if (whole < task.depth || biased)
    for (int column = 0; column < at.columns; ++column)
      for (std::int64_t o = at.begin; o < at.end; ++o) {
        float& dot = tile.sums[column][o - at.output];
        dot += tile_rest(task, part, o, at.row + column, whole);
        if (biased) dot += task.bias[o];
      }
  for (int column = 0; task.parts > 1 && column < at.columns; ++column)
    add_to_neighbours(part, task.parts, tile.sums[column], tile.waiting[column]);
}

[[gnu::always_inline]] inline void tile_finish(const ProductTask& task, const TilePlace& at,
                                               const TileSums& tile) {
  const bool is_whole = at.begin == at.output && at.end == at.output + tile_rows;
  const std::int64_t begin = is_whole ? at.output : at.begin;
  const std::int64_t n = is_whole ? tile_rows : at.end - at.begin;
  for (int column = 0; column < at.columns; ++column) {
    const float* __restrict dots = tile.sums[column] + (begin - at.output);
    float* __restrict out = task.out + (at.row + column) * task.out_stride + begin;
    if (task.accumulate)
      for (std::int64_t o = 0; o < n; ++o) out[o] = out[o] + dots[o];
    else
      for (std::int64_t o = 0; o < n; ++o) out[o] = dots[o];
  }
}

/// Weights that stay in the second cache while several pairs of groups meet them.
inline constexpr std::int64_t tile_band_bytes = 512 * 1024;

/// Outputs [begin, end), which lie in `weights` tiles from output `first` on, for rows from first_row on.
template <typename Tiles, int weights, int groups>
void tile_block(Tiles& tiles, const ProductTask& task, std::int64_t first, std::int64_t begin,
                std::int64_t end, std::int32_t first_row, bool prefetching) {
  constexpr std::int64_t line = 64;
  const std::int64_t row_bytes = task.depth * 2;
  const std::int64_t part_bytes = task.outputs * row_bytes;
  const std::int64_t steps = task.depth / tile_depth;
  const std::int64_t part_set_bytes = tile_steps(task.depth) * tile_bytes;
  const std::int64_t group_bytes = task.parts * part_set_bytes;
  const std::byte* weight_part = task.weights + first * row_bytes;
  const std::byte* set_part = task.activations + first_row / tile_rows * group_bytes;
  TileSums sums[weights * groups];
  const auto place = [&](int weight, int group) {
    const std::int64_t from = first + weight * tile_rows;
    const std::int32_t row = first_row + group * static_cast<std::int32_t>(tile_rows);
    const std::int64_t left = task.rows - row;
    return TilePlace{from, begin > from ? begin : from, end < from + tile_rows ? end : from + tile_rows, row,
                     static_cast<int>(left < tile_rows ? left : tile_rows)};
  };
  for (std::int64_t part = 0; part < task.parts; ++part) {
    const std::byte* at = weight_part;
    const std::byte* pairs = set_part;
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
    tiles.template store<0, 0>(sums[0].sums);
    if constexpr (groups > 1) tiles.template store<0, 1>(sums[1].sums);
    if constexpr (weights > 1) tiles.template store<1, 0>(sums[groups].sums);
    if constexpr (weights > 1 && groups > 1) tiles.template store<1, 1>(sums[groups + 1].sums);
    for (int i = 0; i < weights * groups; ++i)
      tile_end_part(task, part, place(i / groups, i % groups), sums[i]);
    weight_part += part_bytes;
    set_part += part_set_bytes;
  }
  for (int i = 0; i < weights * groups; ++i) tile_finish(task, place(i / groups, i % groups), sums[i]);
}

/// Outputs [begin, end) for one or two groups of rows from first_row on.
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
      for (std::int32_t row = 0; row < task.rows; ++row) tile_plain(task, output, row);
    return;
  }
  constexpr std::int64_t block = 2 * tile_rows;
  const std::int64_t fit = tile_band_bytes / (task.parts * task.depth * 2 * block);
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
