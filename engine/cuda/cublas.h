// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Loads cuBLAS when a device is opened, so that a program without a GPU does not map its 600 MB.

#include <cublas_v2.h>
#include <draftscope/base/result.h>

namespace draftscope::engine::cuda {

/// All functions of cuBLAS that are called.
struct Cublas {
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  /// cublasGemmEx; its header overloads the name.
  cublasStatus_t (*multiply)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                             const void*, cudaDataType, int, const void*, cudaDataType, int, const void*,
                             void*, cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t) = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
};

/// Searches the loader's path, then the build's toolkit, for the build's major version. Never unloads.
[[nodiscard]] Result<Cublas> load_cublas();

}  // namespace draftscope::engine::cuda
