// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Matrices of a synthetic model, made where they are needed: the recipe of checkpoint/synthetic_fill.h, bit
// for bit (the tests compare the two).

#include "device.h"
#include "params.h"

namespace draftscope::engine::cuda {

DRAFTSCOPE_DEVICE void make_synthetic(const SyntheticParams& p) {
  const std::int64_t step = std::int64_t{block_count()} * block_threads();
  for (std::int64_t e = std::int64_t{block_index()} * block_threads() + thread_index(); e < p.elements;
       e += step) {
    std::uint32_t x = static_cast<std::uint32_t>(e) ^ p.low_key;
    x = (x ^ (x >> 16)) * 0x7FEB352DU;
    x ^= x >> 15;
    x = (x + p.high_key + static_cast<std::uint32_t>(e >> 32) * 0x9E3779B9U) * 0x846CA68BU;
    x ^= x >> 16;
    const std::uint32_t pairs = (x & 0x00FF00FFU) + ((x >> 8) & 0x00FF00FFU);
    const auto centred = static_cast<std::int32_t>((pairs & 0xFFFFU) + (pairs >> 16)) - 510;
    p.values[e] = Bf16::from_float(static_cast<float>(centred) * p.scale);
  }
}

}  // namespace draftscope::engine::cuda
