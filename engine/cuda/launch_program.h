// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The launch of a program whose layers are in a format; each is compiled by itself (launch_program.cu).

#include <cuda_runtime.h>

#include "launch.h"

namespace draftscope::engine::cuda {

template <typename Format>
[[nodiscard]] cudaError_t launch_program(const Launch& launch, const KernelParams& params,
                                         cudaStream_t stream);

}  // namespace draftscope::engine::cuda
