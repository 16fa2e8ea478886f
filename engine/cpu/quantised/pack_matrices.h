// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From tensors to the layout of packed matrices, on all processors.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/packed_layout.h"

namespace draftscope::engine::cpu {

/// A tensor to pack: one that is stored in blocks of the layout's format has its blocks moved as they are,
/// any other is rounded to a format of one level.
struct PackedTensor {
  TensorView source;
  const PackedLayout* layout = nullptr;
  std::byte* data = nullptr;          ///< zeroed memory of packed_bytes()
  std::span<const float> importance;  ///< weight of an error in each column; empty = unknown
};

void pack_matrices(const std::vector<PackedTensor>& tensors);

}  // namespace draftscope::engine::cpu
