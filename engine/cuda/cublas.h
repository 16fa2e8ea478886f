// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Loads cuBLAS when a device is opened: its two libraries take 600 MB, which a program without a GPU need not
// map.

#include <cublas_v2.h>
#include <draftscope/base/result.h>

namespace draftscope::engine::cuda {

/// All functions that are called.
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

/// Searches the loader's path, then the toolkit of the build, for the major version of the build. Never
/// unloads.
[[nodiscard]] Result<Cublas> load_cublas();

}  // namespace draftscope::engine::cuda
