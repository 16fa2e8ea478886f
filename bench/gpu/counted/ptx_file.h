// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace draftscope::bench {

/// PTX of the engine's kernels, as the build made it; empty where it had no CUDA toolkit.
[[nodiscard]] inline std::string kernels_ptx_file() {
#if defined(DRAFTSCOPE_COUNTED_PTX)
  return DRAFTSCOPE_COUNTED_PTX;
#else
  return {};
#endif
}

}  // namespace draftscope::bench
