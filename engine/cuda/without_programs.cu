// SPDX-License-Identifier: GPL-3.0-or-later
#include "launch_kernel.h"
#include "launch_program.h"

namespace draftscope::engine::cuda {

bool has_program_kernels() {
  return false;
}

cudaError_t launch_program(const Launch& /*launch*/, const KernelParams& /*params*/,
                           cudaStream_t /*stream*/) {
  return cudaErrorNotSupported;
}

}  // namespace draftscope::engine::cuda
