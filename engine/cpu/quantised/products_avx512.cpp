// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/quantised/lanes_avx512.h"
#include "cpu/quantised/vector_packed_products.h"

namespace draftscope::engine::cpu {

const PackedProducts& avx512_packed_products() {
  static const PackedProducts products{"avx512", vector_round_row<LanesAvx512>,
                                       vector_packed_product<LanesAvx512>};
  return products;
}

}  // namespace draftscope::engine::cpu
