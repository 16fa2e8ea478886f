// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Blocks of GGUF tensors (checkpoint/gguf/unpack.h describes them) as blocks of packed matrices: the same
// scales and quants in another place.

#include <cstddef>
#include <cstdint>

#include "packed_matrix.h"

namespace draftscope::engine::cpu {

/// 32 weights of a stored row, from 32 · block on. `row` is of a format that has a layout.
[[nodiscard]] QuantisedBlock read_stored_block(speculation::WeightFormat format, const std::byte* row,
                                               std::int64_t block);

}  // namespace draftscope::engine::cpu
