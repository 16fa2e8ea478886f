// SPDX-License-Identifier: GPL-3.0-or-later
#include "cublas.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <string>

namespace draftscope::engine::cuda {

namespace {

template <typename Function>
Result<void> find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return {};
  return fail("cuda backend: cuBLAS has no function {}, expected that of version {}", name, CUBLAS_VERSION);
}

}  // namespace

Result<Cublas> load_cublas() {
  const std::string file = fmt::format("libcublas.so.{}", CUBLAS_VER_MAJOR);
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    library = dlopen(fmt::format("{}/{}", DRAFTSCOPE_CUDA_LIBRARY_DIR, file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail("cuda backend: {} is missing or unfit, expected that of the CUDA toolkit ({})", file,
                dlerror());
  Cublas functions;
  DRAFTSCOPE_TRY(find(library, "cublasCreate_v2", functions.create));
  DRAFTSCOPE_TRY(find(library, "cublasDestroy_v2", functions.destroy));
  DRAFTSCOPE_TRY(find(library, "cublasSetStream_v2", functions.set_stream));
  DRAFTSCOPE_TRY(find(library, "cublasSetWorkspace_v2", functions.set_workspace));
  DRAFTSCOPE_TRY(find(library, "cublasGemmEx", functions.multiply));
  DRAFTSCOPE_TRY(find(library, "cublasGetStatusString", functions.status_string));
  return functions;
}

}  // namespace draftscope::engine::cuda
