// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_kernel.h"

#include "dispatch.h"
#include "launch_program.h"
#include "start_kernel.h"

namespace draftscope::engine::cuda {

cudaError_t ask_for_code() {
  // One kernel stands for all: they are compiled for the same devices.
  cudaFuncAttributes attributes{};
  return cudaFuncGetAttributes(&attributes, entry<MoveStates>);
}

cudaError_t launch_kernel(const Launch& launch, const KernelParams& params, cudaStream_t stream) {
  if (launch.kernel == Kernel::program)
    return visit_format(launch.format, [&]<typename Format>() {
      return launch_program<std::conditional_t<takes_of<Format> == Takes::plain, PlainWeights<Bf16>, Format>>(
          launch, params, stream);
    });
  return visit_kernel(launch, [&]<typename Body>() { return start<Body>(launch, params, stream); });
}

}  // namespace draftscope::engine::cuda
