// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The Gpu that is one: CUDA runtime, one stream, cuBLAS.

#include <draftscope/base/result.h>
#include <cstdint>
#include <memory>

#include "gpu.h"

namespace draftscope::engine::cuda {

/// Fails with one line if there is no such device, or it is older than compute capability 9.0.
[[nodiscard]] Result<std::unique_ptr<Gpu>> make_cuda_gpu(std::int32_t device);

}  // namespace draftscope::engine::cuda
