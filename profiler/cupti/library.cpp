// SPDX-License-Identifier: GPL-3.0-or-later
#include "library.h"

#include <dlfcn.h>
#include <cstdlib>
#include <vector>

namespace draftscope::profiler::cupti {
namespace {

std::vector<std::string> candidates() {
  if (const char* const path = std::getenv("DRAFTSCOPE_CUPTI_LIBRARY")) return {path};
  const std::string versioned = "libcupti.so." + std::to_string(CUPTI_API_VERSION / 10000);
  std::vector<std::string> paths{versioned, "libcupti.so"};
  for (const char* const folder : {"/", "/../extras/CUPTI/lib64/"})
    paths.push_back(DRAFTSCOPE_CUDA_LIBRARY_DIR + std::string(folder) + versioned);
  return paths;
}

template <typename Function>
bool find_symbol(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

std::string Library::words(CUptiResult result) const {
  const char* text = nullptr;
  if (cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) return text;
  return fmt::format("CUPTI error {}", static_cast<int>(result));
}

Result<Library> load_library() {
  const std::vector<std::string> paths = candidates();
  Library library;
  void* handle = nullptr;
  for (const std::string& path : paths) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    library.path = path;
    if (handle != nullptr) break;
  }
  if (handle == nullptr)
    return fail("device trace: CUPTI can't be loaded: {} is missing or unfit, expected the CUDA toolkit's",
                paths.front());

  // The record layouts depend on the release; later releases only append to them.
  constexpr std::uint32_t release = CUPTI_API_VERSION / 100;
  if (!find_symbol(handle, "cuptiGetVersion", library.cuptiGetVersion) ||
      library.cuptiGetVersion(&library.version) != CUPTI_SUCCESS)
    return fail("device trace: {} does not tell its version, expected CUPTI", library.path);
  if (library.version / 100 < release)
    return fail("device trace: {} has CUPTI API version {}, expected {} or later", library.path,
                library.version, release * 100);
#define DRAFTSCOPE_CUPTI_FIND(name)                                                                    \
  if (!find_symbol(handle, #name, library.name))                                                       \
    return fail("device trace: {} has no function {}, expected that of CUPTI {}", library.path, #name, \
                CUPTI_API_VERSION);
  DRAFTSCOPE_CUPTI_FUNCTIONS(DRAFTSCOPE_CUPTI_FIND)
#undef DRAFTSCOPE_CUPTI_FIND
  return library;
}

}  // namespace draftscope::profiler::cupti
