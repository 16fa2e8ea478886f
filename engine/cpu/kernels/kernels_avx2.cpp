// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/kernels/vector_avx2.h"
#include "cpu/kernels/vector_kernels.h"

namespace draftscope::engine::cpu {

const Kernels& avx2_kernels() {
  static const Kernels kernels = vector_kernels<VectorAvx2>("avx2", avx2_packed_products());
  return kernels;
}

}  // namespace draftscope::engine::cpu
