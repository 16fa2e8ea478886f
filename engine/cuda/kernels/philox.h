// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The counter-based choices of draftscope/engine/random.h on the device: the same seed draws the same
// numbers.

#include "device.h"

namespace draftscope::engine::cuda {

/// DrawPurpose's numbers.
enum class DrawFor : std::uint32_t { target = 0, draft = 1, accept = 2, noise = 3 };

/// Uniform in [0, 1) with 53 bits, as SeededChooser has it. `branch` as in Draw: for noise, which token.
DRAFTSCOPE_DEVICE double uniform_draw(std::uint64_t seed, std::uint64_t stream, std::int32_t position,
                                      DrawFor purpose, std::int32_t branch = 0) {
  std::uint32_t counter[4] = {
      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U),
      static_cast<std::uint32_t>(position),
      static_cast<std::uint32_t>(purpose) | (static_cast<std::uint32_t>(branch) << 8U)};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter[0] = static_cast<std::uint32_t>(product1 >> 32U) ^ counter[1] ^ key[0];
    counter[2] = static_cast<std::uint32_t>(product0 >> 32U) ^ counter[3] ^ key[1];
    counter[1] = static_cast<std::uint32_t>(product1);
    counter[3] = static_cast<std::uint32_t>(product0);
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  const std::uint64_t mantissa = ((std::uint64_t{counter[0]} << 32U) | counter[1]) >> 11U;
  return static_cast<double>(mantissa) * 0x1p-53;
}

}  // namespace draftscope::engine::cuda
