// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/cuda_backend.h>

#include <utility>

#include "backend.h"
#include "cuda_gpu.h"

namespace draftscope::engine {

Result<std::unique_ptr<Backend>> make_cuda_backend(const Checkpoint& checkpoint, const CudaOptions& options) {
  DRAFTSCOPE_TRY_ASSIGN(std::unique_ptr<cuda::Gpu> gpu, cuda::make_cuda_gpu(options.device));
  return cuda::make_backend(std::move(gpu), checkpoint, options);
}

}  // namespace draftscope::engine
