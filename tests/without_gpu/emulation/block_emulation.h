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
  int threads = 1;  ///< A multiple of 32.
  std::size_t shared_bytes = 0;
  bool is_cooperative = false;  ///< All blocks run at the same time.
};

/// The running block if its grid is cooperative; −1 otherwise.
extern int cooperative_block;

/// A running grid, with its blocks and their warps in an order drawn from `seed`. Every thread of every block
/// calls `body` once. go_on() throws std::logic_error if threads wait for each other for ever (a barrier that
/// not all of them reach), or if one ends before its own copies have arrived. Not reentrant.
///
/// A cooperative grid's blocks advance in any order, and one may continue wherever a thread of another waits.
/// If none can continue, all waits for arrivals return false; if there are none, go_on() throws
/// std::logic_error.
class GridRun {
 public:
  GridRun(const Grid& grid, std::function<void()> body, std::uint32_t seed = 1);
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;
  ~GridRun();

  /// Runs some block up to its next barrier or its end; in a cooperative grid, some warp up to its next wait.
  /// False once all blocks have ended.
  bool go_on();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::engine::cuda::emulation
