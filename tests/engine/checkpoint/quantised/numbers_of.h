// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <vector>

#include "checkpoint/element_bits.h"

namespace draftscope::engine {

/// The numbers of a tensor, whether it is held packed or not.
inline std::vector<std::byte> numbers_of(const TensorView& tensor) {
  if (!tensor.is_plain()) return widened_rows(tensor, 0, tensor.rows);
  return {tensor.data, tensor.data + tensor.bytes()};
}

}  // namespace draftscope::engine
