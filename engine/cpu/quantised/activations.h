// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Activations for packed weights: per product, a row is rounded once to signed bytes, with one scale per 32
// values. One set serves all formats. Every instruction set gives the same bits.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "formats/packed_layout.h"

namespace draftscope::engine::cpu {

/// x = scale · quant. A block that contains a NaN or an infinity has the scale NaN and quants 0.
struct ActivationBlock {
  std::int8_t quants[block_depth];
  float scale;                      ///< absmax / 127
  float sum;                        ///< scale · Σ quants, for minima
  std::int32_t negative_sum;        ///< −Σ quants, for zero points
  std::int16_t negative_halves[2];  ///< negated sum of each 16 values
};
static_assert(sizeof(ActivationBlock) == 48);

/// Bytes from one row of a set to the next. It is never a multiple of 4 KiB, which would map the same k of
/// all rows to one set of the first-level cache.
[[nodiscard, gnu::always_inline]] inline std::int64_t activation_blocks_bytes(std::int64_t depth) {
  constexpr std::int64_t page = 4096;
  constexpr std::int64_t unit = blocks_of_two_levels * block_depth;  // All formats read whole units.
  const std::int64_t bytes = (depth + unit - 1) / unit * blocks_of_two_levels * std::int64_t{48};
  return bytes % page == 0 ? bytes + 192 : bytes;
}

[[nodiscard]] inline std::size_t activation_set_bytes(std::int32_t rows, std::int64_t depth) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(activation_blocks_bytes(depth));
}

/// How a block is rounded, given the max of its values' bits without their signs.
struct Rounding {
  float scale;
  float inverse;  ///< 0 = all quants are 0
};

[[nodiscard, gnu::always_inline]] inline Rounding rounding_of(std::uint32_t largest_bits) {
  constexpr std::uint32_t infinity = 0x7f800000U;
  constexpr float smallest = 1e-30F;  // For smaller values the inverse would overflow.
  if (largest_bits >= infinity) return {std::bit_cast<float>(0x7fc00000U), 0.0F};
  const float largest = std::bit_cast<float>(largest_bits);
  if (largest < smallest) return {0.0F, 0.0F};
  return {largest / 127.0F, 127.0F / largest};
}

[[gnu::always_inline]] inline void finish_block(ActivationBlock& block, float scale, std::int32_t first,
                                                std::int32_t second) {
  block.scale = scale;
  block.sum = scale * static_cast<float>(first + second);
  block.negative_sum = -(first + second);
  block.negative_halves[0] = static_cast<std::int16_t>(-first);
  block.negative_halves[1] = static_cast<std::int16_t>(-second);
}

/// Rounds a row into place `index` of a set. `round(values, block)` rounds 32 values.
template <typename Round>
[[gnu::always_inline]] inline void round_row(const float* row, std::int32_t index, std::int64_t depth,
                                             std::byte* set, Round round) {
  auto* block = reinterpret_cast<ActivationBlock*>(set + index * activation_blocks_bytes(depth));
  std::int64_t k = 0;
  for (; k + block_depth <= depth; k += block_depth) round(row + k, *block++);
  constexpr std::int64_t unit = blocks_of_two_levels * block_depth;
  for (; k < (depth + unit - 1) / unit * unit; k += block_depth) {
    float padded[block_depth] = {};
    if (k < depth) __builtin_memcpy(padded, row + k, static_cast<std::size_t>(depth - k) * sizeof(float));
    round(padded, *block++);
  }
}

}  // namespace draftscope::engine::cpu
