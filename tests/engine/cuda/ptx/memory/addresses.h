// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where generic addresses lead. A global address is the host's own; the other spaces are windows where no
// host memory is.

#include <cstdint>

#include "module/types.h"

namespace draftscope::ptx {

/// First address of shared and local memory within their spaces: zero is nobody's.
inline constexpr std::uint64_t window_begin = 1024;

inline constexpr int window_shift = 56;

/// Generic address of offset zero in a space.
[[nodiscard]] constexpr std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return std::uint64_t{1} << window_shift;
    case Space::local:
      return std::uint64_t{2} << window_shift;
    case Space::param:
      return std::uint64_t{3} << window_shift;
    default:
      return 0;
  }
}

/// The space that a generic address leads to.
[[nodiscard]] constexpr Space space_of_address(std::uint64_t address) {
  switch (address >> window_shift) {
    case 1:
      return Space::shared;
    case 2:
      return Space::local;
    case 3:
      return Space::param;
    default:
      return Space::global;
  }
}

}  // namespace draftscope::ptx
