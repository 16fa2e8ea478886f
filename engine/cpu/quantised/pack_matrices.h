// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Converts tensors to the layout of packed matrices, on all processors.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <span>
#include <vector>

#include "formats/packed_layout.h"

namespace draftscope::engine::cpu {

/// A tensor to pack. If it is stored in blocks of the layout's format, its blocks are moved as they are; any
/// other tensor is rounded to a format of one level.
struct PackedTensor {
  TensorView source;
  const PackedLayout* layout = nullptr;
  std::byte* data = nullptr;          ///< zeroed memory of packed_bytes()
  std::span<const float> importance;  ///< importance of an error in each column; empty = unknown
};

void pack_matrices(const std::vector<PackedTensor>& tensors);

}  // namespace draftscope::engine::cpu
