// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The counter-based choices of draftscope/engine/random.h on the device: the same seed draws the same
// numbers.

#include <draftscope/base/counter_random.h>

#include "device.h"

namespace draftscope::engine::cuda {

/// Has the numbers of DrawPurpose.
enum class DrawFor : std::uint32_t { target = 0, draft = 1, accept = 2, noise = 3 };

/// Draws a uniform number in [0, 1) with 53 bits, as SeededChooser does. `branch` is that of Draw; for noise
/// it is the token.
DRAFTSCOPE_DEVICE double uniform_draw(std::uint64_t seed, std::uint64_t stream, std::int32_t position,
                                      DrawFor purpose, std::int32_t branch = 0) {
  std::uint32_t counter[4] = {
      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32U),
      static_cast<std::uint32_t>(position),
      static_cast<std::uint32_t>(purpose) | (static_cast<std::uint32_t>(branch) << 8U)};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U)};
  philox_rounds(counter, key);
  return unit_interval(counter[0], counter[1]);
}

}  // namespace draftscope::engine::cuda
