// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The engine's kernels for the emulated device. Their file is compiled so that their loads and stores are
// seen (device_accesses.h).

#include "cuda/launch.h"
#include "kernel_queue.h"

namespace draftscope::engine::cuda::emulation {

/// The kernel of a launch with its arguments; its places have no names.
[[nodiscard]] QueuedKernel emulated_kernel(const Launch& launch, const KernelParams& params);

}  // namespace draftscope::engine::cuda::emulation
