// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The backend over any Gpu: what a batch becomes in device memory, which launches it takes, what comes back.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/cuda_backend.h>
#include <cstdint>
#include <memory>

#include "gpu.h"

namespace draftscope::engine::cuda {

/// How passes and rounds of decoding run: a kernel an operation, kept as graphs, or one kernel
/// (kernels/program.h), where a block has room for it and nobody traces the device's kernels. Texts are the
/// same, bit for bit. On GPUs graphs run: no program has run on one yet.
enum class DecodingPasses : std::uint8_t { graphs, programs };

[[nodiscard]] Result<std::unique_ptr<Backend>> make_backend(std::unique_ptr<Gpu> gpu,
                                                            const Checkpoint& checkpoint,
                                                            const CudaOptions& options,
                                                            DecodingPasses passes = DecodingPasses::graphs);

}  // namespace draftscope::engine::cuda
