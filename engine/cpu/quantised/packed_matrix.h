// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A matrix in the layout of formats/packed_layout.h. This file reads and writes it by single blocks of one
// output; products read it in vectors.

#include <cstddef>
#include <cstdint>

#include "formats/packed_layout.h"

namespace draftscope::engine::cpu {

/// A packed matrix; does not own its bytes.
struct PackedMatrix {
  const PackedLayout* layout = nullptr;  ///< null = no matrix
  const std::byte* data = nullptr;
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
};

/// Number of blocks along k, in whole units.
[[nodiscard]] std::int64_t packed_blocks(const PackedLayout& layout, std::int64_t depth);
[[nodiscard]] std::int64_t packed_group_bytes(const PackedLayout& layout, std::int64_t depth);
[[nodiscard]] std::size_t packed_bytes(const PackedLayout& layout, std::int64_t outputs, std::int64_t depth);

/// Writes a block into the memory of a matrix of that depth; the block's memory must have been zero. Calls
/// for different groups may run at the same time.
void put_block(const PackedLayout& layout, std::byte* data, std::int64_t depth, std::int64_t output,
               std::int64_t block, const QuantisedBlock& values);
[[nodiscard]] QuantisedBlock get_block(const PackedMatrix& matrix, std::int64_t output, std::int64_t block);

}  // namespace draftscope::engine::cpu
