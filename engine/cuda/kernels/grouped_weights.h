// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Formats whose weights share scales in groups of k, as they lie in device memory (grouped_layout.h). A lane
// makes plain numbers of its codes: the fp32 value that the file's format stands for, rounded once to the
// activations' type. It is the number that the widened file would have, and so are its sums.
//
// A code c is moved to where a number of fp32 ends in it: base + c, exactly. (base + c) · scale − (base +
// zero) · scale is then one fused step, in which only the result is rounded, and that is exact: base + zero
// has 9 bits, a scale 11, the result 19. A code of e4m3 becomes the fp16 number that is 2^-8 of it, whose
// product with 2^8 · scale is rounded to fp32 as the widened file's is.

#include "device.h"
#include "grouped_layout.h"
#include "weights.h"

namespace draftscope::engine::cuda {

/// 128 + the low half of byte `i`, whose high half is 0.
DRAFTSCOPE_DEVICE float above_128(std::uint32_t bytes, int i) {
  return bits_float(place_byte(bytes, i, 2, 0x43000000U));
}
/// 32768 + byte `i`.
DRAFTSCOPE_DEVICE float above_32768(std::uint32_t bytes, int i) {
  return bits_float(place_byte(bytes, i, 1, 0x47000000U));
}

/// fp16 scales of groups of 32: two a word.
template <int groups>
struct HalfScales {
  std::uint32_t words[groups / 2];
  DRAFTSCOPE_DEVICE float scale(int group) const {
    const std::uint32_t word = words[group / 2];
    return F16::to_float(static_cast<std::uint16_t>(group % 2 == 0 ? word & 0xffffU : word >> 16));
  }
};

/// The run at `depth` of what 256 values of k have of scales.
template <int groups>
DRAFTSCOPE_DEVICE HalfScales<groups> half_scales(const std::byte* scales, int depth) {
  HalfScales<groups> result;
  const auto* words = reinterpret_cast<const std::uint32_t*>(scales) + depth / (2 * part_depth);
#pragma unroll
  for (int i = 0; i < groups / 2; ++i) result.words[i] = words[i];
  return result;
}

/// One scale and one zero point for all of a run.
struct RunScale {
  std::uint32_t word;
  DRAFTSCOPE_DEVICE float scale() const { return F16::to_float(static_cast<std::uint16_t>(word & 0xffffU)); }
  /// −(128 + zero).
  DRAFTSCOPE_DEVICE float minus_base_and_zero() const { return bits_float(word & 0xffff0000U); }
};

/// Eight codes of 4 bits, each held 128 higher, times a scale and an offset more.
template <typename Element>
DRAFTSCOPE_DEVICE Part scaled_nibbles(std::uint32_t codes, float scale, float offset) {
  Part result;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t bytes = codes >> i / 2 * 4 & 0x0f0f0f0fU;
    const int first = i % 2 * 2;
    result.pairs[i] = Element::pair_from_floats(multiply_add(above_128(bytes, first), scale, offset),
                                                multiply_add(above_128(bytes, first + 1), scale, offset));
  }
  return result;
}

/// The common part of formats with groups.
template <typename Element, GroupedLayout grouped>
struct GroupedWeights {
  using Activation = Element;
  static constexpr bool is_grouped = true;
  static constexpr GroupedLayout layout() { return grouped; }
  static constexpr int stage_depth = grouped.run_depth();
  static constexpr int scale_depth = grouped.scale_depth;
  static constexpr int parts = stage_depth / part_depth;
  using Scales = HalfScales<parts>;
  DRAFTSCOPE_DEVICE static Scales scales(const std::byte* from, int depth) {
    return half_scales<parts>(from, depth);
  }
  DRAFTSCOPE_DEVICE static int lane_depth(int t, int part) { return part * part_depth + t * part_values; }
  DRAFTSCOPE_DEVICE static std::int64_t row_bytes(int depth) {
    return std::int64_t{(depth + stage_depth - 1) / stage_depth} * run_bytes;
  }
};

/// GGUF's Q8_0: signed bytes, held 128 higher.
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
    constexpr float base_and_zero = 128.0F + 8.0F;
    const float scale = scales.scale(index);
    return scaled_nibbles<Bf16>(held.words[index], scale, -base_and_zero * scale);
  }
};

/// 4 bits less a zero point: AWQ's and GPTQ's matrices, in groups of 128 or of several times that.
template <typename Element>
struct Int4Weights : GroupedWeights<Element, int4_layout> {
  using Scales = RunScale;
  DRAFTSCOPE_DEVICE static Scales scales(const std::byte* from, int depth) {
    return {reinterpret_cast<const std::uint32_t*>(from)[depth / int4_layout.run_depth()]};
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    const float scale = scales.scale();
    const float offset = scales.minus_base_and_zero() * scale;
    return scaled_nibbles<Element>(held.words[index], scale, offset);
  }
};

/// Scales and minima of a run's four parts in Q4_K, a byte each, and the fp16 numbers that they are multiples
/// of.
struct SixBitScales {
  std::uint32_t steps;  ///< of scales low, of minima high
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

/// GGUF's Q4_K: 4 bits times a scale, less a minimum, both multiples of 256 weights' own. Scales and minima
/// are exact, 17 bits each, and so is a code times a scale: one fused step rounds what the file's widening
/// rounds. By a thread alone.
struct Q4_KAlone : GroupedWeights<Bf16, q4_k_layout> {
  using Scales = SixBitScales;
  DRAFTSCOPE_DEVICE static Scales scales(const std::byte* from, int depth) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(from);
    constexpr std::uint32_t lower = 0x0f0f0f0fU, upper = 0x30303030U;
    if (depth < stage_depth) return {words[0], words[1] & (lower | upper), words[2] & (lower | upper)};
    return {words[0], (words[3] & lower) | (words[1] >> 2 & upper),
            (words[3] >> 4 & lower) | (words[2] >> 2 & upper)};
  }
  DRAFTSCOPE_DEVICE static Part numbers(std::uint32_t codes, float scale, float minus_minimum) {
    Part result;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t bytes = codes >> i / 2 * 4 & 0x0f0f0f0fU;
      const int first = i % 2 * 2;
      // A minimum is no multiple of a scale: codes cannot stay 128 higher.
      result.pairs[i] =
          Bf16::pair_from_floats(multiply_add(above_128(bytes, first) - 128.0F, scale, minus_minimum),
                                 multiply_add(above_128(bytes, first + 1) - 128.0F, scale, minus_minimum));
    }
    return result;
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    return numbers(held.words[index], scales.scale(index), scales.minus_minimum(index));
  }
};

/// The same by a warp, each of the four lanes that share a row having the scale and minimum of one part: all
/// four parts' would be more than a lane has registers for.
struct Q4_KWeights : Q4_KAlone {
  struct Scales {
    float scale, minus_minimum;
  };
  static_assert(parts == run_lanes);
  DRAFTSCOPE_DEVICE static int lane() { return thread_index() % run_lanes; }
  DRAFTSCOPE_DEVICE static Scales scales(const std::byte* from, int depth) {
    const SixBitScales all = Q4_KAlone::scales(from, depth);
    return {all.scale(lane()), all.minus_minimum(lane())};
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk& held, int index, const Scales& scales) {
    const int other = lane() ^ index;
    return numbers(held.words[index], shuffle_xor(scales.scale, other),
                   shuffle_xor(scales.minus_minimum, other));
  }
};

template <>
inline constexpr Takes takes_of<Q4_KWeights> = Takes::own;

/// One scale for 128 values of k.
struct BlockScale {
  float times_256;
};

/// e4m3 with a scale for blocks of rows and depth, as folders of fp8 have it.
struct BlockFp8Weights : GroupedWeights<Bf16, fp8_block_layout> {
  using Scales = BlockScale;
  DRAFTSCOPE_DEVICE static Scales scales(const std::byte* from, int depth) {
    return {reinterpret_cast<const float*>(from)[depth / fp8_block_depth]};
  }
  /// Two values of 2^-8 in fp16.
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

/// Scales of a row's run at `depth`, by a thread alone, wherever they lie.
template <typename Format>
DRAFTSCOPE_DEVICE typename Format::Scales scales_of_run(const std::byte* matrix, int outputs, int depth,
                                                        int row, int at) {
  const std::byte* scales = matrix + Format::layout().scales_offset(outputs, depth, row) +
                            at / Format::scale_depth * GroupedLayout::scale_step;
  return Format::scales(scales, at % Format::scale_depth);
}

}  // namespace draftscope::engine::cuda
