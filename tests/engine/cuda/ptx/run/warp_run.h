// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One warp's instructions, as far as it comes by itself.

#include <cstdint>
#include <random>

#include "run/launch_state.h"

namespace draftscope::ptx {

using Order = std::minstd_rand;

/// Where a fault was raised.
struct Position {
  std::int32_t step = 0;
};

/// Runs up to `budget` instructions, or until no lane of the warp goes on by itself; returns how many it ran.
/// Throws Fault, raised at `position`.
std::uint64_t run_warp(Warp& warp, std::uint64_t budget, Order& order, Position& position);

/// Whether some lane can go on.
[[nodiscard]] bool can_go_on(const Warp& warp);
/// Whether all lanes that have not ended wait for the block, at one instruction: its step, or -1. Throws
/// Fault if they wait for each other at different ones.
[[nodiscard]] std::int32_t barrier_of(const Warp& warp, Position& position);
/// Lets a warp go on behind its barrier.
void leave_barrier(Warp& warp);

}  // namespace draftscope::ptx
