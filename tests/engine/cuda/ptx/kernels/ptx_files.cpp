// SPDX-License-Identifier: GPL-3.0-or-later
#include "ptx_files.h"

namespace draftscope::engine::test {

PtxFiles ptx_files() {
#if defined(DRAFTSCOPE_KERNELS_90)
  return {DRAFTSCOPE_KERNELS_90, DRAFTSCOPE_KERNELS_80, DRAFTSCOPE_KERNELS_90_UNFUSED};
#else
  return {};
#endif
}

}  // namespace draftscope::engine::test
