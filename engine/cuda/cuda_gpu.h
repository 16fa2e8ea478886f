// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The Gpu that is one: CUDA runtime, one stream, cuBLAS.

#include <draftscope/base/result.h>
#include <cstdint>
#include <memory>

#include "gpu.h"

namespace draftscope::engine::cuda {

/// Fails with one line if the driver is too old, there is no such device, it is older than compute capability
/// 8.0, or this build has no code for it.
[[nodiscard]] Result<std::unique_ptr<Gpu>> make_cuda_gpu(std::int32_t device);

}  // namespace draftscope::engine::cuda
