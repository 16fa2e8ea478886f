// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/quantised/lanes_avx2.h"
#include "cpu/quantised/vector_packed_products.h"

namespace draftscope::engine::cpu {

const PackedProducts& avx2_packed_products() {
  static const PackedProducts products{"avx2", vector_round_row<LanesAvx2>, vector_packed_product<LanesAvx2>};
  return products;
}

}  // namespace draftscope::engine::cpu
