// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A Gpu whose kernels are the PTX that nvcc makes of them (engine/cuda/launch_kernel.cu). A library's
// products run on the host.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cuda/gpu.h"
#include "device.h"

namespace draftscope::engine::cuda::emulation {

struct PtxGpuOptions {
  std::int32_t multiprocessors = 2;
  std::uint32_t seed = 1;  ///< of the order of blocks, warps and lanes
  std::size_t shared_bytes = ptx::DeviceOptions().max_shared_bytes;  ///< of a block
  bool counts = false;
  /// Pieces of memory that a kernel's counts tell apart (run/counts.h). Absent = none.
  std::function<std::vector<ptx::CountedRange>(ptx::Device&, const KernelParams&)> ranges;
  /// Called before and behind every kernel; a failure ends the call that launched it. Absent = nothing
  /// happens.
  std::function<Result<void>(ptx::Device&, const Launch&, const KernelParams&)> before;
  std::function<Result<void>(ptx::Device&, const Launch&, const KernelParams&, const ptx::LaunchCounts&)>
      after;
};

/// `ptx_file` holds the module. Fails if it cannot be read, or holds what the interpreter does not know.
[[nodiscard]] Result<std::unique_ptr<Gpu>> make_ptx_gpu(const std::string& ptx_file, PtxGpuOptions options);

/// The kernel of a launch as its module's entry, made readable.
[[nodiscard]] std::string entry_name(const Launch& launch);

/// Every launch that visit_kernel() knows, without blocks and shared memory.
[[nodiscard]] std::vector<Launch> all_launches();

/// Arguments that a kernel of a pass has; null if it is of none.
[[nodiscard]] const PassParams* pass_of(const KernelParams& params);

}  // namespace draftscope::engine::cuda::emulation
