// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace draftscope::engine::test {

/// Files of the kernels' PTX; empty where the build had no CUDA toolkit.
struct PtxFiles {
  std::string compute_90;
  std::string compute_80;
  std::string compute_90_unfused;  ///< no product is fused with a sum
};

[[nodiscard]] PtxFiles ptx_files();

}  // namespace draftscope::engine::test

/// Ends a test that needs the kernels' PTX where there is none.
#define DRAFTSCOPE_NEEDS_PTX()        \
  if (ptx_files().compute_90.empty()) \
  GTEST_SKIP() << "no CUDA toolkit at build time: the kernels' PTX is not run"
