// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Kernels in the order of their launches, run as a stream with programmatic dependent launch may run them: a
// kernel that may start early starts beside any number of kernels before it, up to and with the last that may
// not. Which blocks start when is drawn from a seed. Every kernel is taken to let the next one start with its
// first instruction. Nothing runs beside a cooperative grid.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "block_emulation.h"
#include "device_accesses.h"

namespace draftscope::engine::cuda::emulation {

struct QueuedKernel {
  std::function<std::string()> name;
  Grid grid;
  std::function<void()> body;  ///< of each thread
  /// Names a place of device memory as the kernel calls it; absent if it has no names.
  std::function<std::string(const std::byte*)> place;
};

class KernelQueue {
 public:
  /// `accesses` hears of the device's memory, and is not owned.
  KernelQueue(DeviceAccesses& accesses, std::uint32_t seed) : accesses_(accesses), order_(seed) {}

  void add(QueuedKernel kernel);

  /// Runs everything to its end. Fails if a kernel did before its wait what it may not (device_accesses.h),
  /// with a line that names it, the place and the kernel that writes there; and if nothing orders what two
  /// blocks of a cooperative grid did, with a line that names the kernel, the place and the blocks.
  [[nodiscard]] Result<void> run();

 private:
  struct Launched {
    QueuedKernel kernel;
    std::uint32_t first_unfinished;
    std::unique_ptr<GridRun> run;
  };

  [[nodiscard]] std::uint32_t number(std::size_t place) const;
  GridRun& run_of(Launched& launched);
  /// Calls `step` as the kernel at `place`.
  template <typename Step>
  bool as_kernel(std::size_t place, Step step);
  void start_ahead(std::size_t first);
  [[nodiscard]] const QueuedKernel& kernel(std::uint32_t number) const;
  [[nodiscard]] std::string place(const QueuedKernel& kernel, const std::byte* address) const;
  [[nodiscard]] Error described(const EarlyConflict& conflict) const;
  [[nodiscard]] Error described(const BlockConflict& conflict) const;

  DeviceAccesses& accesses_;
  std::minstd_rand order_;
  std::vector<Launched> queue_;
  std::uint32_t ended_ = 0;         // kernels of runs before
  std::uint32_t window_begin_ = 1;  // the last kernel that may not start early, or the first of the queue
  int blocks_ahead_ = 0;
};

}  // namespace draftscope::engine::cuda::emulation
