// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_program.h"

#include "launch_kernel.h"
#include "program_dispatch.h"

namespace draftscope::engine::cuda {

namespace {

template <typename Body>
__global__ void __launch_bounds__(Body::threads, 1)
    program_entry(const __grid_constant__ typename Body::Params params) {
  Body::run(params);
}

template <typename Body>
cudaError_t start(const Launch& launch, const KernelParams& params, cudaStream_t stream) {
  const cudaError_t status =
      cudaFuncSetAttribute(program_entry<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(launch.shared_bytes));
  if (status != cudaSuccess) return status;
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
  return cudaLaunchKernelEx(&config, program_entry<Body>, std::get<typename Body::Params>(params));
}

}  // namespace

bool has_program_kernels() {
  return true;
}

cudaError_t launch_program(const Launch& launch, const KernelParams& params, cudaStream_t stream) {
  return visit_program(launch, [&]<typename Body>() { return start<Body>(launch, params, stream); });
}

}  // namespace draftscope::engine::cuda
