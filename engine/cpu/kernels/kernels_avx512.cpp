// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/kernels/vector_avx512.h"
#include "cpu/kernels/vector_kernels.h"
#include "cpu/processor.h"

namespace draftscope::engine::cpu {

const Kernels& avx512_kernels() {
  static const Kernels kernels = vector_kernels<VectorAvx512>(
      "avx512", instruction_sets().avx512_vnni ? avx512_vnni_packed_products() : avx512_packed_products());
  return kernels;
}

}  // namespace draftscope::engine::cpu
