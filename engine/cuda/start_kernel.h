// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns a kernel's body (dispatch.h) into its launch; for nvcc alone.

#include <cuda_runtime.h>

#include <variant>

#include "launch.h"

namespace draftscope::engine::cuda {

template <typename Body>
__global__ void __launch_bounds__(Body::threads) entry(const __grid_constant__ typename Body::Params params) {
  Body::run(params);
}

template <typename Body>
cudaError_t start(const Launch& launch, const KernelParams& params, cudaStream_t stream) {
  // It is set at every launch: the limit is per device, and a kernel's launches differ.
  constexpr std::size_t without_asking = 48 * 1024;
  if (launch.shared_bytes > without_asking) {
    const cudaError_t status = cudaFuncSetAttribute(entry<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(launch.shared_bytes));
    if (status != cudaSuccess) return status;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
  config.blockDim = dim3(static_cast<unsigned>(Body::threads));
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute together{};
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  if (launch.kernel == Kernel::program) {
    config.attrs = &together;
    config.numAttrs = 1;
  }
  return cudaLaunchKernelEx(&config, entry<Body>, std::get<typename Body::Params>(params));
}

/// start() for a program, which is compiled separately (launch_program.cu).
template <typename Body>
[[nodiscard]] cudaError_t launch_program(const Launch& launch, const KernelParams& params,
                                         cudaStream_t stream);

}  // namespace draftscope::engine::cuda
