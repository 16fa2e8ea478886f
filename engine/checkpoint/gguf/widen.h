// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From stored rows to the rows that backends read.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/block_formats.h"

namespace draftscope::engine::gguf {

/// A tensor to be written: `rows` rows of `columns` weights, of a head size in which they lie side by side in
/// the file if they rotate together (architectures.h); 0 = in the file's order.
struct WidenedTensor {
  const std::byte* packed = nullptr;
  const BlockFormat* format = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< a multiple of the format's weights
  std::int64_t paired_head_dim = 0;
  DType dtype = DType::bf16;  ///< to be written; the format's own, or bf16 or f32
  std::byte* out = nullptr;   ///< rows · columns numbers, or as many blocks
  bool keeps_blocks = false;  ///< written in its own format: its rows are moved alone
};

/// Rows of a tensor in blocks, as numbers of its type.
[[nodiscard]] std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first,
                                                  std::int64_t rows);

/// Writes all of them, a few rows at a time, from all processors.
void widen(const std::vector<WidenedTensor>& tensors);

}  // namespace draftscope::engine::gguf
