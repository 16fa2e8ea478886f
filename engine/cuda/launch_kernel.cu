// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_kernel.h"

#include "dispatch.h"
#include "start_kernel.h"

namespace draftscope::engine::cuda {

cudaError_t ask_for_code() {
  // One kernel represents all: they are compiled for the same devices.
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, entry<MoveStates>);
}

cudaError_t launch_kernel(const Launch& launch, const KernelParams& params, cudaStream_t stream) {
  if (launch.kernel == Kernel::program)
    return visit_program(launch.format,
                         [&]<typename Body>() { return launch_program<Body>(launch, params, stream); });
  return visit_kernel(launch, [&]<typename Body>() { return start<Body>(launch, params, stream); });
}

}  // namespace draftscope::engine::cuda
