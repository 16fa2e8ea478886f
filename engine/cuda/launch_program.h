// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where a program's kernels are instantiated and launched: in builds that have them.

#include <cuda_runtime.h>

#include "launch.h"

namespace draftscope::engine::cuda {

/// A kernel that is_of_programs(); a program cooperatively, so that all of its blocks are resident.
/// cudaErrorNotSupported where the build has none.
[[nodiscard]] cudaError_t launch_program(const Launch& launch, const KernelParams& params,
                                         cudaStream_t stream);

}  // namespace draftscope::engine::cuda
