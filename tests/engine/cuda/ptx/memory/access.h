// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One lane's access to memory, checked: alignment, bounds, races of shared memory, and what a kernel may
// touch before its wait or read as constant.

#include <array>
#include <cstddef>
#include <cstdint>

#include "run/launch_state.h"

namespace draftscope::ptx {

enum class Access : std::uint8_t { load, constant_load, store, atomic };

/// Where an access leads.
struct Place {
  std::byte* data;
  std::uint8_t* written;  ///< one byte a byte: whether it holds a value
};

/// `address` is of `space`, generic or not. Throws Fault.
[[nodiscard]] Place place_of(Warp& warp, Space space, int lane, std::uint64_t address, std::size_t bytes,
                             Access access);

using Addresses = std::array<std::uint64_t, warp_lanes>;

/// Adds one request to the launch's counts, if it has any.
void count_request(Warp& warp, Space space, Mask lanes, const Addresses& addresses, std::size_t bytes,
                   Access access);

}  // namespace draftscope::ptx
