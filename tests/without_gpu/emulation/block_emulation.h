// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a grid of blocks on the host, thread by thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace draftscope::engine::cuda::emulation {

struct Grid {
  int blocks = 1;
  int threads = 1;  ///< a multiple of 32
  std::size_t shared_bytes = 0;
  bool is_cooperative = false;  ///< all blocks are under way at once
};

/// The block that runs, if its grid is cooperative; −1 if not.
extern int cooperative_block;

/// A grid under way, its blocks and their warps in an order drawn from `seed`. Every thread of every block
/// calls `body` once. go_on() throws std::logic_error if threads wait for each other for ever (a barrier that
/// not all of them reach), or if one ends while copies of its own are under way. Not reentrant.
///
/// A cooperative grid's blocks advance in any order, and one may go on wherever a thread of another waits. If
/// none can go on, all waits for arrivals return false, and without any, go_on() throws std::logic_error.
class GridRun {
 public:
  GridRun(const Grid& grid, std::function<void()> body, std::uint32_t seed = 1);
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;
  ~GridRun();

  /// Runs some block up to its next barrier or its end; of a cooperative grid, some warp
  /// up to its next wait. False once all blocks have ended.
  bool go_on();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::engine::cuda::emulation
