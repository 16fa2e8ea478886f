// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The one place where kernels are instantiated and launched.

#include <cuda_runtime.h>

#include "launch.h"

namespace draftscope::engine::cuda {

/// Whether the code that the current device runs waits by itself for the kernels before
/// (wait_for_previous_kernel()). An error if this build has none for the device.
[[nodiscard]] cudaError_t ask_whether_kernels_wait(bool& they_wait);

/// Whether this build has the kernels that is_of_programs() (CMake's DRAFTSCOPE_CUDA_PROGRAMS).
[[nodiscard]] bool has_program_kernels();

/// `may_start_early`: where kernels wait by themselves, those of which waits_by_itself() says so start beside
/// the ones before.
[[nodiscard]] cudaError_t launch_kernel(const Launch& launch, const KernelParams& params,
                                        bool may_start_early, cudaStream_t stream);

}  // namespace draftscope::engine::cuda
