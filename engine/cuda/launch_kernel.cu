// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_kernel.h"

#include "dispatch.h"
#include "launch_program.h"

namespace draftscope::engine::cuda {

namespace {

/// Two blocks of a kernel fit a multiprocessor's registers, so that the next kernel's start while this one's
/// end; of the widest products one does.
template <typename Body>
constexpr int resident_blocks = 2;
template <typename Body>
requires(Body::resident_blocks > 0) constexpr int resident_blocks<Body> = Body::resident_blocks;

template <typename Body>
__global__ void __launch_bounds__(Body::threads, resident_blocks<Body>)
    entry(const __grid_constant__ typename Body::Params params) {
  Body::run(params);
}

template <typename Body>
cudaError_t start(const Launch& launch, const KernelParams& params, bool may_start_early,
                  cudaStream_t stream) {
  // Asked for at every launch: what is allowed is a device's, and a kernel's launches differ.
  constexpr std::size_t without_asking = 48 * 1024;
  if (launch.shared_bytes > without_asking) {
    const cudaError_t status = cudaFuncSetAttribute(entry<Body>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    static_cast<int>(launch.shared_bytes));
    if (status != cudaSuccess) return status;
  }
  if (waits_by_itself(launch.kernel)) {
    // Kernels that overlap divide a multiprocessor's memory alike: another division waits until it is idle.
    const cudaError_t status = cudaFuncSetAttribute(
        entry<Body>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
    if (status != cudaSuccess) return status;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(launch.blocks));
  config.blockDim = dim3(static_cast<unsigned>(Body::threads));
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  if (may_start_early && waits_by_itself(launch.kernel)) {
    config.attrs = &early;
    config.numAttrs = 1;
  }
  return cudaLaunchKernelEx(&config, entry<Body>, std::get<typename Body::Params>(params));
}

}  // namespace

cudaError_t ask_whether_kernels_wait(bool& they_wait) {
  // One kernel stands for all: they are compiled together. What it was compiled for says more than what the
  // device is, for a driver makes code of an older PTX for a newer device.
  constexpr int waiting_ptx = 90;
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, entry<BeginVerification>);
  they_wait = status == cudaSuccess && attributes.ptxVersion >= waiting_ptx;
  return status;
}

cudaError_t launch_kernel(const Launch& launch, const KernelParams& params, bool may_start_early,
                          cudaStream_t stream) {
  if (is_of_programs(launch.kernel)) return launch_program(launch, params, stream);
  return visit_kernel(launch,
                      [&]<typename Body>() { return start<Body>(launch, params, may_start_early, stream); });
}

}  // namespace draftscope::engine::cuda
