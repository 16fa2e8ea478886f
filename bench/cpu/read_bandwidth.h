// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace draftscope::bench {

/// Bytes per second at which `threads` threads read `bytes` once, each its own contiguous part.
[[nodiscard]] double read_bandwidth(std::span<const std::byte> bytes, std::int32_t threads);

}  // namespace draftscope::bench
