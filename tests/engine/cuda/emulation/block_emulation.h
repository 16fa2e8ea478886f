// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a grid of blocks on the host, thread by thread.

#include <cstddef>
#include <functional>

namespace draftscope::engine::cuda::emulation {

struct Grid {
  int blocks = 1;
  int threads = 1;  ///< a multiple of 32
  std::size_t shared_bytes = 0;
};

/// Every thread of every block calls `body` once. Throws std::logic_error if threads wait for each other for
/// ever (a barrier that not all of them reach). Not reentrant.
void run_grid(const Grid& grid, const std::function<void()>& body);

}  // namespace draftscope::engine::cuda::emulation
