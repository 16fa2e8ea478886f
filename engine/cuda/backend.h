// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A backend over any Gpu: places a batch in device memory, launches the pass and returns its outputs.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <memory>

#include "gpu.h"

namespace draftscope::engine::cuda {

[[nodiscard]] Result<std::unique_ptr<Backend>> make_backend(std::unique_ptr<Gpu> gpu,
                                                            const Checkpoint& checkpoint,
                                                            const CudaOptions& options);

}  // namespace draftscope::engine::cuda
