// SPDX-License-Identifier: GPL-3.0-or-later
// This file is compiled once for each DRAFTSCOPE_FORMAT.
#include "kernels/program.h"
#include "start_kernel.h"

namespace draftscope::engine::cuda {

template <>
cudaError_t launch_program<Program<DRAFTSCOPE_FORMAT>>(const Launch& launch, const KernelParams& params,
                                                       cudaStream_t stream) {
  return start<Program<DRAFTSCOPE_FORMAT>>(launch, params, stream);
}

}  // namespace draftscope::engine::cuda
