// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one place where kernels are instantiated and launched.

#include <cuda_runtime.h>

#include "launch.h"

namespace draftscope::engine::cuda {

[[nodiscard]] cudaError_t launch_kernel(const Launch& launch, const KernelParams& params,
                                        cudaStream_t stream);

}  // namespace draftscope::engine::cuda
