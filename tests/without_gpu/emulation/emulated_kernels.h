// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The engine's kernels for the emulated device. Their file is compiled with instrumentation that sees their
// loads and stores (device_accesses.h).

#include <functional>
#include <optional>
#include <string>

#include "block_emulation.h"
#include "cuda/launch.h"

namespace draftscope::engine::cuda::emulation {

struct EmulatedKernel {
  std::function<std::string()> name;
  Grid grid;
  std::function<void()> body;  ///< Code that a thread runs.
  std::optional<Workspace> work;
};

/// The kernel of a launch with its arguments.
[[nodiscard]] EmulatedKernel emulated_kernel(const Launch& launch, const KernelParams& params);

}  // namespace draftscope::engine::cuda::emulation
