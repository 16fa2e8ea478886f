// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Formats of weights: how a lane reads them for mma.m16n8k16, whatever their storage format.
//
// The order of summation over k is free, as long as weights and activations agree. So a lane takes 16
// consecutive bytes of a weight row, the widest copy there is, and treats them as its share of k. In each
// stage (`stage_depth` values of k), lane t of the four that share a row has `parts` runs of 8 values, which
// begin at lane_depth(t, part). A part feeds two mma: its pairs 0 and 1 the first, its pairs 2 and 3 the
// second. Formats with groups (grouped_weights.h) take the same values of k in the same order as plain ones,
// so that the sums of the same numbers are the same.

#include "device.h"

namespace draftscope::engine::cuda {

inline constexpr int part_values = 8;

/// Four pairs of 16-bit values.
struct Part {
  std::uint32_t pairs[4];
};

/// No scales: the numbers stand for themselves, or have a scale that is applied to their sums.
struct NoScales {};

/// pair() interleaves the words of two rows' chunks, and unpair() undoes it.
DRAFTSCOPE_DEVICE void pair(Chunk& low, Chunk& high) {
  const Chunk a = low, b = high;
  low = {{a.words[0], b.words[0], a.words[1], b.words[1]}};
  high = {{a.words[2], b.words[2], a.words[3], b.words[3]}};
}
DRAFTSCOPE_DEVICE void unpair(Chunk& low, Chunk& high) {
  const Chunk a = low, b = high;
  low = {{a.words[0], a.words[2], b.words[0], b.words[2]}};
  high = {{a.words[1], a.words[3], b.words[1], b.words[3]}};
}

template <typename Element>
struct PlainWeights {
  using Activation = Element;
  using Scales = NoScales;
  static constexpr bool is_grouped = false;
  static constexpr bool is_paired = true;
  static constexpr int value_bytes = 2;
  static constexpr int scale_words = 0;  ///< Words of scales per run of a row in a piece.
  static constexpr int parts = 1;
  static constexpr int stage_depth = 32;
  DRAFTSCOPE_DEVICE static int lane_depth(int t, int /*part*/) { return t * part_values; }
  DRAFTSCOPE_DEVICE static std::int64_t row_bytes(int depth) { return std::int64_t{depth} * value_bytes; }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int /*index*/, NoScales /*scales*/) {
    return {{held.words[0], held.words[1], held.words[2], held.words[3]}};
  }
};

/// The plain matrices of layers whose others are in groups.
struct PlainBesideGroups : PlainWeights<Bf16> {};

/// Which of a layer's matrices the kernels of a format multiply, for layers in two formats (DeviceMatrix).
enum class MatrixSupport : std::uint8_t { all, packed_only, plain_only };
template <typename Format>
inline constexpr MatrixSupport matrix_support = MatrixSupport::all;
template <>
inline constexpr MatrixSupport matrix_support<PlainBesideGroups> = MatrixSupport::plain_only;

/// e4m3 with one scale per output, computed as bf16: the eight bits moved into bf16's places are the value
/// times 2^-120.
struct Fp8Weights {
  using Activation = Bf16;
  using Scales = NoScales;
  static constexpr bool is_grouped = false;
  static constexpr bool is_paired = false;
  static constexpr int value_bytes = 1;
  static constexpr int scale_words = 0;
  static constexpr int parts = 2;
  static constexpr int stage_depth = 64;
  DRAFTSCOPE_DEVICE static int lane_depth(int t, int part) { return (t * parts + part) * part_values; }
  DRAFTSCOPE_DEVICE static std::int64_t row_bytes(int depth) { return depth; }
  DRAFTSCOPE_DEVICE static std::uint32_t pair(std::uint32_t low, std::uint32_t high) {
    constexpr std::uint32_t two_to_120 = 0x7B807B80U;
    const std::uint32_t both = low | high << 16;
    const std::uint32_t moved = (both & 0x00800080U) << 8 | (both & 0x007f007fU) << 4;
    return Bf16::multiply_pairs(moved, two_to_120);
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, NoScales /*scales*/ = {}) {
    Part result;
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t word = held.words[2 * index + i];
      result.pairs[2 * i] = pair(word & 0xffU, word >> 8 & 0xffU);
      result.pairs[2 * i + 1] = pair(word >> 16 & 0xffU, word >> 24);
    }
    return result;
  }
};

}  // namespace draftscope::engine::cuda
