// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The common memory layout of all matrices in blocks of quantised weights, whatever made them, and of one
// such block. The codes of a format are in its row of weight_format.h; its layout follows from them.
//
//   Group    16 outputs; groups follow each other, the last one padded with zero scales
//   Block    32 values of k of a group; blocks follow each other along k, the last one padded with the zero
//            point. A group is thus one stream of bytes
//   Scales   before the quants of a block: 16 fp16 scales, and 16 fp16 minima if the format has them. Without
//            minima, the scales of two blocks precede the quants of both. In formats with two levels, the
//            fp16 numbers are shared by 8 blocks and followed by signed bytes: the scales of each block
//            ([block][half, if it has two][16]), then its minima ([block][16])
//   Quants   unsigned, in vectors of 64 bytes: byte 4 · output + j of a vector belongs to value 4 · quad + j
//            of k, the order in which dot products of bytes read it. A quant's low 8, 4 or 2 bits are in the
//            low planes; successive quads use successive bits of the same byte. Its upper bits are in the
//            high planes after them, in the same way
//
//   w = step · (quant − zero) + minimum. The step is the scale, or scale · the block's scale in formats of
//   two levels. The minimum is formed likewise; formats of two levels subtract it, as in ggml.

#include <draftscope/speculation/weight_format.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "numbers/bf16.h"

namespace draftscope::engine::cpu {

inline constexpr std::int64_t group_outputs = 16;
inline constexpr std::int64_t block_depth = 32;
/// Bytes of a vector: one per output and value of a quad.
inline constexpr std::int64_t plane_bytes = 64;
inline constexpr std::int64_t blocks_of_two_levels = 8;  ///< number of blocks that share the fp16 numbers

/// Layout of one format. Its functions are always inlined, so that no copy compiled for one instruction set
/// is linked into code for another.
struct PackedLayout {
  speculation::WeightFormat format = speculation::WeightFormat::q8_0;
  int low_bits = 8;      ///< 8, 4 or 2
  int high_bits = 0;     ///< 0, 1 or 2
  int zero_bits = 0;     ///< the zero point is 2^zero_bits
  bool has_zero = true;  ///< whether the zero point is 2^zero_bits; otherwise it is 0
  bool has_minima = false;
  int own_scales = 0;  ///< scales per block below its fp16 scale; 0 = a format of one level

  [[nodiscard, gnu::always_inline]] constexpr int bits() const { return low_bits + high_bits; }
  [[nodiscard, gnu::always_inline]] constexpr int zero() const { return has_zero ? 1 << zero_bits : 0; }
  [[nodiscard, gnu::always_inline]] constexpr bool has_two_levels() const { return own_scales > 0; }
  /// Number of blocks whose scales lie together, called a unit; chosen so that quants begin at cache lines.
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t unit_blocks() const {
    if (has_two_levels()) return blocks_of_two_levels;
    return has_minima ? 1 : 2;
  }
  /// Distance from a block's fp16 numbers to the next block's.
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t half_step() const {
    return has_two_levels() ? 0 : 2 * group_outputs * (has_minima ? 2 : 1);
  }
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t quant_bytes() const {
    return plane_bytes * bits();
  }
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t half_bytes() const {
    return 2 * group_outputs * (has_minima ? 2 : 1) * (has_two_levels() ? 1 : unit_blocks());
  }
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t own_bytes() const {
    return has_two_levels() ? unit_blocks() * group_outputs * (own_scales + (has_minima ? 1 : 0)) : 0;
  }
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t header_bytes() const {
    return half_bytes() + own_bytes();
  }
  [[nodiscard, gnu::always_inline]] constexpr std::int64_t unit_bytes() const {
    return header_bytes() + unit_blocks() * quant_bytes();
  }
};

/// Layout of a format's codes.
[[gnu::always_inline]] constexpr PackedLayout layout_of(const speculation::WeightFormatRow& row) {
  const auto& [bits, zero, has_minima, own_scales] = row.codes;
  const int low_bits = bits == 8 ? 8 : bits >= 4 ? 4 : 2;
  const int zero_bits = zero > 0 ? std::countr_zero(static_cast<unsigned>(zero)) : 0;
  return {row.format, low_bits, bits - low_bits, zero_bits, zero > 0, has_minima, own_scales};
}

inline constexpr auto packed_layout_count = static_cast<std::size_t>(std::ranges::count_if(
    speculation::all_weight_formats, [](const auto& row) { return row.codes.bits > 0; }));

/// Formats that are multiplied as they are: those whose row has codes. Other blocks use tables of values.
inline constexpr std::array packed_layouts = [] {
  std::array<PackedLayout, packed_layout_count> layouts;
  std::size_t count = 0;
  for (const speculation::WeightFormatRow& row : speculation::all_weight_formats)
    if (row.codes.bits > 0) layouts[count++] = layout_of(row);
  return layouts;
}();

/// Index in packed_layouts; −1 = a format without a layout.
[[nodiscard, gnu::always_inline]] constexpr int packed_place(speculation::WeightFormat format) {
  for (std::size_t i = 0; i < packed_layouts.size(); ++i)
    if (packed_layouts[i].format == format) return static_cast<int>(i);
  return -1;
}

/// Layout of a format; null = a format without a layout.
[[nodiscard, gnu::always_inline]] constexpr const PackedLayout* packed_layout(
    speculation::WeightFormat format) {
  const int place = packed_place(format);
  return place < 0 ? nullptr : packed_layouts.data() + place;
}

/// The 32 weights of one output in one block, in a form common to all formats.
struct QuantisedBlock {
  std::array<std::uint8_t, block_depth> quants{};
  std::uint16_t scale = 0;                  ///< fp16
  std::uint16_t minimum = 0;                ///< fp16; 0 if the format has none
  std::array<std::int8_t, 2> own_scales{};  ///< formats with two levels: one per half, or only the first
  std::int8_t own_minimum = 0;
};

/// Computes the numbers of a block; products and sums are rounded to fp32 as in ggml.
[[gnu::always_inline]] inline void dequantise(const PackedLayout& layout, const QuantisedBlock& block,
                                              float* out) {
  const float scale = f16_to_float(block.scale);
  const float minimum = f16_to_float(block.minimum);
  const float offset = layout.has_two_levels() ? minimum * static_cast<float>(block.own_minimum) : 0.0F;
  for (std::size_t k = 0; k < block_depth; ++k) {
    const auto steps = static_cast<float>(static_cast<int>(block.quants[k]) - layout.zero());
    if (layout.has_two_levels()) {
      const std::size_t half = layout.own_scales == 2 ? k / 16 : 0;
      const float weight = scale * static_cast<float>(block.own_scales[half]) * steps;
      out[k] = layout.has_minima ? weight - offset : weight;
    } else {
      out[k] = layout.has_minima ? scale * steps + minimum : scale * steps;
    }
  }
}

}  // namespace draftscope::engine::cpu
