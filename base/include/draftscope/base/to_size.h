// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace draftscope {

/// Non-negative count or index, in the type that containers take.
[[nodiscard]] constexpr std::size_t to_size(std::int32_t n) {
  return static_cast<std::size_t>(n);
}

}  // namespace draftscope
