// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/cuda_backend.h>

namespace draftscope::engine {

namespace {

tl::unexpected<Error> no_backend() {
  return fail("cuda backend: this build has none, expected one made where the CUDA toolkit is installed");
}

}  // namespace

Result<std::unique_ptr<Backend>> make_cuda_backend(const Checkpoint& /*checkpoint*/,
                                                   const CudaOptions& /*options*/) {
  return no_backend();
}

Result<std::vector<std::string>> cuda_device_names() {
  return no_backend();
}

}  // namespace draftscope::engine
