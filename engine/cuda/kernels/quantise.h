// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds weights to e4m3, to nearest even, with a scale per output: the largest magnitude of a row becomes
// 448. The scale need not be a power of two, because products apply it to their sums.

#include "device.h"
#include "params.h"

namespace draftscope::engine::cuda {

inline constexpr float largest_e4m3 = 448.0F;

/// Rounds to nearest even, saturating; a value between two subnormals goes to the nearer one.
DRAFTSCOPE_DEVICE std::uint32_t to_e4m3(float value) {
  const std::uint32_t sign = value < 0.0F ? 0x80U : 0U;
  float magnitude = value < 0.0F ? -value : value;
  if (!(magnitude < largest_e4m3)) return sign | 0x7eU;
  // Below 2^-6 the step is 2^-9; above, an eighth of the power of two below.
  float step = 0.001953125F;
  std::uint32_t exponent = 0;
  for (float power = 0.015625F; power * 2.0F <= magnitude; power *= 2.0F) {
    step *= 2.0F;
    ++exponent;
  }
  if (magnitude >= 0.015625F) ++exponent;
  const float steps = rintf(magnitude / step);  // 0 … 16: the leading 8 is implied once exponent > 0
  const auto count = static_cast<std::uint32_t>(steps);
  const std::uint32_t code = exponent == 0 ? count : (exponent << 3) + count - 8U;
  return sign | (code < 0x7eU ? code : 0x7eU);
}

/// Run by one block per row.
template <typename Element>
DRAFTSCOPE_DEVICE void quantise_rows(const QuantiseParams& p) {
  float* maxima = reinterpret_cast<float*>(shared_memory());
  for (int row = block_index(); row < p.rows; row += block_count()) {
    const std::uint16_t* source = p.source + std::int64_t{row} * p.depth;
    float mine = 0.0F;
    for (int i = thread_index(); i < p.depth; i += block_threads())
      mine = fmaxf(mine, fabsf(Element::to_float(source[i])));
    for (int mask = 16; mask > 0; mask /= 2) mine = fmaxf(mine, shuffle_xor(mine, mask));
    if (thread_index() % warp_threads == 0) maxima[thread_index() / warp_threads] = mine;
    synchronise();
    float maximum = 0.0F;
    for (int warp = 0; warp < block_threads() / warp_threads; ++warp) maximum = fmaxf(maximum, maxima[warp]);
    const float scale = maximum > 0.0F ? maximum / largest_e4m3 : 1.0F;
    for (int i = thread_index(); i < p.depth; i += block_threads())
      p.values[std::int64_t{row} * p.depth + i] =
          static_cast<std::uint8_t>(to_e4m3(Element::to_float(source[i]) / scale));
    if (thread_index() == 0) p.scale[row] = scale;
    synchronise();
  }
}

}  // namespace draftscope::engine::cuda
