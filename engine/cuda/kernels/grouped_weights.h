// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Formats whose weights share scales in groups of k, as they lie in device memory (grouped_layout.h). A lane
// turns its codes into plain numbers: the fp32 value that the file's format stands for, rounded once to the
// activations' type. The numbers, and so their sums, equal those of the widened file.
//
// A code c of Q8_0 or Q4_K is moved to the last bits of an fp32 number, which gives base + c exactly. Then
// (base + c) · scale − (base + zero) · scale is one fused step, which rounds only the result. That is exact:
// base + zero has 9 bits, a scale 11, the result 19. Codes of 4 bits that have a zero point become numbers in
// pairs (CodeScale). A code of e4m3 becomes the fp16 number that is 2^-8 of it, whose product with
// 2^8 · scale is rounded to fp32 as in the widened file.
//
// A zero may have another sign than in the widened file. Sums begin at +0, which no zero of either sign
// changes.

#include "device.h"
#include "kernel_formats.h"
#include "weights.h"

namespace draftscope::engine::cuda {

/// Returns 128 + the low half of byte `i`, whose high half is 0.
DRAFTSCOPE_DEVICE float above_128(std::uint32_t bytes, int i) {
  return bits_float(place_byte(bytes, i, 2, 0x43000000U));
}
/// Returns 32768 + byte `i`.
DRAFTSCOPE_DEVICE float above_32768(std::uint32_t bytes, int i) {
  return bits_float(place_byte(bytes, i, 1, 0x47000000U));
}

/// fp16 scales of groups of 32, two per word.
template <int groups>
struct HalfScales {
  std::uint32_t words[groups / 2];
  DRAFTSCOPE_DEVICE float scale(int group) const {
    const std::uint32_t word = words[group / 2];
    return F16::to_float(static_cast<std::uint16_t>(group % 2 == 0 ? word & 0xffffU : word >> 16));
  }
};

/// Selects the scales of the run at `depth` from the scales of 256 values of k.
template <int groups>
DRAFTSCOPE_DEVICE HalfScales<groups> half_scales(const std::byte* scales, int depth) {
  HalfScales<groups> result;
  const auto* words = reinterpret_cast<const std::uint32_t*>(scales) + depth / (2 * part_depth);
#pragma unroll
  for (int i = 0; i < groups / 2; ++i) result.words[i] = words[i];
  return result;
}

/// Extracts pair `i` of a part's codes of 4 bits above the bits of `base`; codes of odd pairs are 16 times as
/// large.
DRAFTSCOPE_DEVICE std::uint32_t code_pair(std::uint32_t codes, int i, std::uint32_t base) {
  return masked_above(i < 2 ? codes : codes >> 8, i % 2 == 0 ? 0x000f000fU : 0x00f000f0U, base);
}

/// A scale and a zero point of codes of 4 bits.
template <typename Element>
struct CodeScale;

/// Codes in the last bits of fp16's 1024 are 1024 + c or 1024 + 16c. The steps from there to c − zero are
/// exact, since no intermediate number has more than 11 bits. Only the product with the scale rounds,
/// subnormal results included. A run takes one register: the widest kernels have no room for a second.
template <>
struct CodeScale<F16> {
  std::uint32_t word;  ///< The scale, and −(1024 + zero) above it.

  /// The scale and zero point of a run of int4.
  DRAFTSCOPE_DEVICE static CodeScale of_run(std::uint32_t word) {
    constexpr std::uint32_t from_128_of_bf16 = 0x27000000U;
    return {word ^ from_128_of_bf16};
  }
  DRAFTSCOPE_DEVICE Part numbers(std::uint32_t codes) const {
    constexpr std::uint32_t of_1024 = 0x64006400U, of_960 = 0x63806380U;
    constexpr std::uint32_t ones = 0x3c003c00U, sixteenths = 0x2c002c00U;
    const std::uint32_t scales = low_half_twice(word);
    const std::uint32_t minus_1024_and_zeros = high_half_twice(word);
    Part result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t above = code_pair(codes, i, of_1024);
      if (i % 2 == 1) above = F16::multiply_add_pairs(above, sixteenths, of_960);
      const std::uint32_t steps = F16::multiply_add_pairs(above, ones, minus_1024_and_zeros);
      result.pairs[i] = F16::multiply_pairs(steps, scales);
    }
    return result;
  }
};

/// Unchanged codes are bf16's c · 2^-133 or c · 2^-129: below 2^-125 its numbers are 2^-133 apart. The step
/// from there to (c − zero) / 64 is exact: zero points are 0 … 16, so that c − zero has 4 bits, or is −16. A
/// scale has at most 11 bits and bf16 has 8: the difference to the nearest bf16 number is up to 4 of the
/// scale's last bit. So the difference's product has 6 bits and is exact, too. Only the fused step that adds
/// the other product rounds.
template <>
struct CodeScale<Bf16> {
  std::uint32_t scales;       ///< The bf16 number nearest to 64 times the scale, twice.
  std::uint32_t rests;        ///< The difference from that number to 64 times the scale, twice.
  std::uint32_t minus_zeros;  ///< −zero / 64, twice

  DRAFTSCOPE_DEVICE static CodeScale of(float scale, std::uint32_t minus_zeros) {
    const float times_64 = scale * 64.0F;
    const std::uint32_t nearest = Bf16::pair_from_floats(times_64, times_64);
    const float rest = times_64 - bits_float(nearest & 0xffff0000U);
    return {nearest, Bf16::pair_from_floats(rest, rest), minus_zeros};
  }
  DRAFTSCOPE_DEVICE static CodeScale of_run(std::uint32_t word) {
    constexpr std::uint32_t sixty_fourths = 0x3c803c80U, twos = 0x40004000U;
    return of(F16::to_float(static_cast<std::uint16_t>(word & 0xffffU)),
              Bf16::multiply_add_pairs(high_half_twice(word), sixty_fourths, twos));
  }
  DRAFTSCOPE_DEVICE Part numbers(std::uint32_t codes) const {
    constexpr std::uint32_t two_to_127 = 0x7f007f00U, two_to_123 = 0x7d007d00U;
    Part result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t steps =
          Bf16::multiply_add_pairs(code_pair(codes, i, 0), i % 2 == 0 ? two_to_127 : two_to_123, minus_zeros);
      result.pairs[i] = Bf16::multiply_add_pairs(steps, scales, Bf16::multiply_pairs(steps, rests));
    }
    return result;
  }
};

/// Shared base of all formats with groups.
template <typename Element, GroupedLayout grouped>
struct GroupedWeights {
  using Activation = Element;
  static constexpr bool is_grouped = true;
  static constexpr bool is_paired = false;
  static constexpr GroupedLayout layout() { return grouped; }
  static constexpr int stage_depth = grouped.run_depth();
  static constexpr int scale_depth = grouped.scale_depth;
  static constexpr int parts = stage_depth / part_depth;
  using Scales = HalfScales<parts>;
  static constexpr int scale_words = grouped.scale_words;
  static_assert(scale_words <= max_scale_words);
  /// Writes a piece's scale words for a row's run, read from the 16 bytes of the row's scales.
  DRAFTSCOPE_DEVICE static void put_run_scales(const std::byte* from, int depth, std::uint32_t* to) {
    static_assert(scale_words == parts / 2);
    const HalfScales<parts> run = half_scales<parts>(from, depth);
    for (int i = 0; i < parts / 2; ++i) to[i] = run.words[i];
  }
  /// Computes the scales that a lane needs from those words.
  DRAFTSCOPE_DEVICE static Scales run_scales(const std::uint32_t* words) {
    Scales result;
    for (int i = 0; i < parts / 2; ++i) result.words[i] = words[i];
    return result;
  }
  DRAFTSCOPE_DEVICE static int lane_depth(int t, int part) { return part * part_depth + t * part_values; }
  DRAFTSCOPE_DEVICE static std::int64_t row_bytes(int depth) {
    return std::int64_t{(depth + stage_depth - 1) / stage_depth} * run_bytes;
  }
};

/// GGUF's Q8_0: signed bytes, stored with 128 added.
struct Q8_0Weights : GroupedWeights<Bf16, q8_0_layout> {
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    constexpr float base_and_zero = 32768.0F + 128.0F;
    const float scale = scales.scale(index);
    const float offset = -base_and_zero * scale;
    Part result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t word = held.words[2 * index + i / 2];
      const int first = i % 2 * 2;
      result.pairs[i] = Bf16::pair_from_floats(multiply_add(above_32768(word, first), scale, offset),
                                               multiply_add(above_32768(word, first + 1), scale, offset));
    }
    return result;
  }
};

/// GGUF's Q4_0: 4 bits less 8.
struct Q4_0Weights : GroupedWeights<Bf16, q4_0_layout> {
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    constexpr std::uint32_t minus_eights = 0xbe00be00U;  // −8 / 64
    return CodeScale<Bf16>::of(scales.scale(index), minus_eights).numbers(held.words[index]);
  }
};

/// 4 bits less a zero point: matrices of AWQ and GPTQ, in groups of 128 or a multiple of it.
template <typename Element>
struct Int4Weights : GroupedWeights<Element, int4_layout> {
  using Scales = CodeScale<Element>;  ///< One for the whole run.
  DRAFTSCOPE_DEVICE static void put_run_scales(const std::byte* from, int depth, std::uint32_t* to) {
    to[0] = reinterpret_cast<const std::uint32_t*>(from)[depth / int4_layout.run_depth()];
  }
  DRAFTSCOPE_DEVICE static Scales run_scales(const std::uint32_t* words) { return Scales::of_run(words[0]); }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    return scales.numbers(held.words[index]);
  }
};

/// Scales and minima of a run's four parts in Q4_K, one byte each, and the fp16 numbers that they are
/// multiples of.
struct SixBitScales {
  std::uint32_t steps;  ///< The step of the scales in the low half, of the minima in the high half.
  std::uint32_t scales, minima;
  DRAFTSCOPE_DEVICE float scale(int part) const {
    const float step = F16::to_float(static_cast<std::uint16_t>(steps & 0xffffU));
    return (above_128(scales, part) - 128.0F) * step;
  }
  DRAFTSCOPE_DEVICE float minus_minimum(int part) const {
    const float step = F16::to_float(static_cast<std::uint16_t>(steps >> 16));
    return (128.0F - above_128(minima, part)) * step;
  }
};

/// GGUF's Q4_K: 4 bits times a scale, less a minimum; both are multiples of numbers per 256 weights. Scales
/// and minima are exact with 17 bits each, and so is a code times a scale: one fused step rounds as the
/// file's widening does. Each of the four lanes that share a row has the scale and minimum of one part, since
/// all four parts would not fit in a lane's registers.
struct Q4_KWeights : GroupedWeights<Bf16, q4_k_layout> {
  struct Scales {
    float scale, minus_minimum;
  };
  static_assert(parts == run_lanes);
  DRAFTSCOPE_DEVICE static void put_run_scales(const std::byte* from, int depth, std::uint32_t* to) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(from);
    constexpr std::uint32_t lower = 0x0f0f0f0fU, upper = 0x30303030U;
    const bool is_first = depth < stage_depth;
    to[0] = words[0];
    to[1] = is_first ? words[1] & (lower | upper) : (words[3] & lower) | (words[1] >> 2 & upper);
    to[2] = is_first ? words[2] & (lower | upper) : (words[3] >> 4 & lower) | (words[2] >> 2 & upper);
  }
  DRAFTSCOPE_DEVICE static int lane() { return thread_index() % run_lanes; }
  DRAFTSCOPE_DEVICE static Scales run_scales(const std::uint32_t* words) {
    const SixBitScales all{words[0], words[1], words[2]};
    return {all.scale(lane()), all.minus_minimum(lane())};
  }
  DRAFTSCOPE_DEVICE static Part numbers(std::uint32_t codes, float scale, float minus_minimum) {
    Part result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t bytes = codes >> i % 2 * 4 & 0x0f0f0f0fU;
      const int first = i / 2;
      // A minimum is not a multiple of a scale, so codes cannot keep the added 128.
      result.pairs[i] =
          Bf16::pair_from_floats(multiply_add(above_128(bytes, first) - 128.0F, scale, minus_minimum),
                                 multiply_add(above_128(bytes, first + 2) - 128.0F, scale, minus_minimum));
    }
    return result;
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    const int other = lane() ^ index;
    return numbers(held.words[index], shuffle_xor(scales.scale, other),
                   shuffle_xor(scales.minus_minimum, other));
  }
};

template <>
inline constexpr MatrixSupport matrix_support<Q4_KWeights> = MatrixSupport::packed_only;

/// One scale per 128 values of k.
struct BlockScale {
  float times_256;
};

/// e4m3 with a scale per block of rows and depth, as in fp8 model folders.
struct BlockFp8Weights : GroupedWeights<Bf16, fp8_block_layout> {
  using Scales = BlockScale;
  DRAFTSCOPE_DEVICE static void put_run_scales(const std::byte* from, int depth, std::uint32_t* to) {
    to[0] = float_bits(reinterpret_cast<const float*>(from)[depth / fp8_block_depth]);
  }
  DRAFTSCOPE_DEVICE static Scales run_scales(const std::uint32_t* words) { return {bits_float(words[0])}; }
  /// Scales two fp16 values, which are 2^-8 of the weights.
  DRAFTSCOPE_DEVICE static std::uint32_t scaled(std::uint32_t halves, float scale) {
    return Bf16::pair_from_floats(F16::to_float(static_cast<std::uint16_t>(halves & 0xffffU)) * scale,
                                  F16::to_float(static_cast<std::uint16_t>(halves >> 16)) * scale);
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    Part result;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t word = held.words[2 * index + i];
      result.pairs[2 * i] = scaled(word & 0xbf80bf80U, scales.times_256);
      result.pairs[2 * i + 1] =
          scaled((word << 7 & 0x3f803f80U) | (word << 1 & 0x80008000U), scales.times_256);
    }
    return result;
  }
};

}  // namespace draftscope::engine::cuda
