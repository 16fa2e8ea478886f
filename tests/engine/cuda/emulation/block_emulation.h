// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Runs a grid of blocks on the host, thread by thread.

#include <cstddef>
#include <functional>
#include <memory>

namespace draftscope::engine::cuda::emulation {

struct Grid {
  int blocks = 1;
  int threads = 1;  ///< a multiple of 32
  std::size_t shared_bytes = 0;
  bool may_start_early = false;  ///< every thread waits by itself for the kernels before
};

/// A grid under way. Every thread of every block calls `body` once. Both functions throw std::logic_error if
/// threads wait for each other for ever (a barrier that not all of them reach), or if a grid may start early
/// and one of its threads ends without having waited. Not reentrant.
class GridRun {
 public:
  GridRun(const Grid& grid, std::function<void()> body);
  GridRun(const GridRun&) = delete;
  GridRun& operator=(const GridRun&) = delete;
  ~GridRun();

  /// Runs the first blocks of a grid that may start early up to where they wait for the kernels before, which
  /// have not ended: what they read until then, those must not write.
  void start();
  /// Runs everything to its end.
  void finish();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace draftscope::engine::cuda::emulation
