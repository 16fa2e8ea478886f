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
  bool may_start_early = false;  ///< every thread waits by itself for the kernels before
  /// All blocks are under way at once, and none starts early.
  bool is_cooperative = false;
};

/// Whether the thread that runs has not yet waited for the kernels before, beside which it may have started.
extern bool runs_before_wait;
/// The block that runs, if its grid is cooperative; −1 if not.
extern int cooperative_block;

/// A grid under way, its blocks and their warps in an order drawn from `seed`. Every thread of every block
/// calls `body` once. start_block() and go_on() throw std::logic_error if threads wait for each other for
/// ever (a barrier that not all of them reach), if a grid may start early and one of its threads ends
/// without having waited, or if one ends while copies of its own are under way. Not reentrant.
///
/// A cooperative grid's blocks advance in any order, and one may go on wherever a thread of another waits. If
/// none can go on, all waits for arrivals return false, and without any, go_on() throws std::logic_error.
class GridRun {
 public:
  GridRun(const Grid& grid, std::function<void()> body, std::uint32_t seed = 1);
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;
  ~GridRun();

  /// Starts one more block of a grid that may start early and runs it up to where it waits for the kernels
  /// before, which have not ended. False if there is none left, or one may not start.
  bool start_block();
  /// Blocks that have started and not ended.
  [[nodiscard]] int started_blocks() const;
  /// The kernels before have ended.
  void let_through();
  /// After let_through(): runs some block up to its next barrier or its end; of a cooperative grid, some warp
  /// up to its next wait. False once all blocks have ended.
  bool go_on();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::engine::cuda::emulation
