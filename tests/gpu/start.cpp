// SPDX-License-Identifier: GPL-3.0-or-later
#include "start.h"

#include <cstdlib>

#if DRAFTSCOPE_HAS_CUDA
#include <cuda_runtime.h>
#endif

namespace draftscope::test {

FailedStart failed_start(bool is_missing, const Error& error) {
  if (is_missing) return {skipped, "skipped: " + error.message};
  return {EXIT_FAILURE, "failed to start: " + error.message};
}

bool device_is_missing() {
#if DRAFTSCOPE_HAS_CUDA
  int count = 0;
  const cudaError_t found = cudaGetDeviceCount(&count);
  // Without a driver the runtime reports that it is too old.
  return found == cudaErrorNoDevice || found == cudaErrorInsufficientDriver ||
         (found == cudaSuccess && count == 0);
#else
  return true;
#endif
}

bool cupti_is_missing(const Error& error) {
  return error.message.starts_with("device trace: built without CUPTI") ||
         error.message.starts_with("device trace: CUPTI can't be loaded");
}

}  // namespace draftscope::test
