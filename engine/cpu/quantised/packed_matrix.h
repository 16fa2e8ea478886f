// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A matrix in the layout of formats/packed_layout.h, block by block: how it is written and read one block of
// one output at a time. Products read it in vectors.

#include <cstddef>
#include <cstdint>

#include "formats/packed_layout.h"

namespace draftscope::engine::cpu {

/// Does not own its bytes.
struct PackedMatrix {
  const PackedLayout* layout = nullptr;  ///< null = there is none
  const std::byte* data = nullptr;
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
};

/// Blocks along k, of whole units.
[[nodiscard]] std::int64_t packed_blocks(const PackedLayout& layout, std::int64_t depth);
[[nodiscard]] std::int64_t packed_group_bytes(const PackedLayout& layout, std::int64_t depth);
[[nodiscard]] std::size_t packed_bytes(const PackedLayout& layout, std::int64_t outputs, std::int64_t depth);

/// Writes a block into the memory of a matrix of that depth, which was zeros there before. Calls for
/// different groups may run at the same time.
void put_block(const PackedLayout& layout, std::byte* data, std::int64_t depth, std::int64_t output,
               std::int64_t block, const QuantisedBlock& values);
[[nodiscard]] QuantisedBlock get_block(const PackedMatrix& matrix, std::int64_t output, std::int64_t block);

}  // namespace draftscope::engine::cpu
