// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A matrix in the layout of layout.h, block by block: how it is written and read one block of one output at a
// time. Products read it in vectors.

#include <array>
#include <cstddef>
#include <cstdint>

#include "layout.h"

namespace draftscope::engine::cpu {

/// 32 weights of one output, as any of the formats says them.
struct QuantisedBlock {
  std::array<std::uint8_t, block_depth> quants{};
  std::uint16_t scale = 0;                  ///< fp16
  std::uint16_t minimum = 0;                ///< fp16; 0 where the format has none
  std::array<std::int8_t, 2> own_scales{};  ///< formats with two levels: one per half, or the first alone
  std::int8_t own_minimum = 0;
};

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

/// The numbers that a block stands for, products and sums rounded to fp32 as ggml's.
void dequantise(const PackedLayout& layout, const QuantisedBlock& block, float* out);

}  // namespace draftscope::engine::cpu
