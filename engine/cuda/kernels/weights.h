// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Formats of weights: how a lane reads them for mma.m16n8k16, whatever they are stored as.
//
// The order of summation over k is ours to choose, as long as weights and activations agree. So a lane loads
// 16 consecutive bytes of a weight row, the widest there is, and calls what it got its share of k: lane t of
// the four that share a row holds, of each step of 64 values, two runs of 8 ("parts") that start at
// offset(part, t). A part feeds two mma: its pairs 0 and 1 the first, its pairs 2 and 3 the second. `stages`
// steps are in flight, 8 KiB a warp in either width.

#include "device.h"

namespace draftscope::engine::cuda {

inline constexpr int step_depth = 64;  ///< values of k a step covers
inline constexpr int parts = 2;        ///< runs of 8 values a lane holds of a step

/// Four pairs of 16-bit values.
struct Part {
  std::uint32_t pairs[4];
};

template <typename Element>
struct PlainWeights {
  using Activation = Element;
  static constexpr int value_bytes = 2;
  static constexpr int loads = 2;
  static constexpr int stages = 2;
  static constexpr int depth_granule =
      8;  ///< the depth must be a multiple: a load lies within the row or outside
  DRAFTSCOPE_DEVICE static int offset(int part, int t) { return part * 32 + t * 8; }
  /// Depth at which load `i` of lane t starts.
  DRAFTSCOPE_DEVICE static int load_offset(int i, int t) { return offset(i, t); }
  DRAFTSCOPE_DEVICE static Part part(const Chunk (&loaded)[loads], int index) {
    return {{loaded[index].words[0], loaded[index].words[1], loaded[index].words[2], loaded[index].words[3]}};
  }
};

/// e4m3 with a scale an output, computed as bf16: the eight bits moved into bf16's places are the value times
/// 2^-120.
struct Fp8Weights {
  using Activation = Bf16;
  static constexpr int value_bytes = 1;
  static constexpr int loads = 1;
  static constexpr int stages = 4;
  static constexpr int depth_granule = 16;
  DRAFTSCOPE_DEVICE static int offset(int part, int t) { return t * 16 + part * 8; }
  DRAFTSCOPE_DEVICE static int load_offset(int /*i*/, int t) { return t * 16; }
  DRAFTSCOPE_DEVICE static std::uint32_t pair(std::uint32_t low, std::uint32_t high) {
    constexpr std::uint32_t two_to_120 = 0x7B807B80U;
    const std::uint32_t both = low | high << 16;
    const std::uint32_t moved = (both & 0x00800080U) << 8 | (both & 0x007f007fU) << 4;
    return multiply_bf16_pairs(moved, two_to_120);
  }
  DRAFTSCOPE_DEVICE static Part part(const Chunk (&loaded)[loads], int index) {
    Part result;
    for (int i = 0; i < 2; ++i) {
      const std::uint32_t word = loaded[0].words[2 * index + i];
      result.pairs[2 * i] = pair(word & 0xffU, word >> 8 & 0xffU);
      result.pairs[2 * i + 1] = pair(word >> 16 & 0xffU, word >> 24);
    }
    return result;
  }
};

}  // namespace draftscope::engine::cuda
