// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Launches of the kernels that nvcc compiles, as seen by host code.

#include <cuda_runtime.h>

#include "launch.h"

namespace draftscope::engine::cuda {

/// Launches a kernel; programs are launched cooperatively. Returns the runtime's status.
[[nodiscard]] cudaError_t launch_kernel(const Launch& launch, const KernelParams& params,
                                        cudaStream_t stream);

/// Whether this build has code for the chosen device.
[[nodiscard]] cudaError_t ask_for_code();

}  // namespace draftscope::engine::cuda
