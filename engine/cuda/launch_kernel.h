// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Launches of the kernels that nvcc compiles, seen from the host's code.

#include <cuda_runtime.h>

#include "launch.h"

namespace draftscope::engine::cuda {

/// Launches a kernel, a program cooperatively. Returns what the runtime says.
[[nodiscard]] cudaError_t launch_kernel(const Launch& launch, const KernelParams& params,
                                        cudaStream_t stream);

/// Whether this build has code for the chosen device.
[[nodiscard]] cudaError_t ask_for_code();

}  // namespace draftscope::engine::cuda
