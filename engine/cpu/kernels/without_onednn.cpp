// SPDX-License-Identifier: GPL-3.0-or-later
#include "cpu/kernels/wide_products.h"

namespace draftscope::engine::cpu {

std::unique_ptr<WideProducts> make_wide_products(DType /*dtype*/, std::int32_t /*threads*/) {
  return nullptr;
}

}  // namespace draftscope::engine::cpu
