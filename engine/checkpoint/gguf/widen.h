// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Turns stored rows into the rows that backends read.

#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/block_formats.h"

namespace draftscope::engine::gguf {

/// A tensor to be written: `rows` rows of `columns` weights. If `paired_head_dim` is not 0, it is the size of
/// heads in which rows that rotate together lie side by side in the file (architectures.h); 0 = the file's
/// order is written.
struct WidenedTensor {
  const std::byte* packed = nullptr;
  const BlockFormat* format = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< a multiple of the format's weights per block
  std::int64_t paired_head_dim = 0;
  DType dtype = DType::bf16;  ///< type to write: the format's own, or bf16 or f32
  std::byte* out = nullptr;   ///< rows · columns numbers, or as many blocks
  bool keeps_blocks = false;  ///< whether its own format is written: rows are only moved
  float scale = 1.0F;         ///< factor of all weights, if they are widened
};

/// Rows of a tensor in blocks, as numbers of its type.
[[nodiscard]] std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first,
                                                  std::int64_t rows);

/// Writes all tensors, a few rows at a time, on all processors.
void widen(const std::vector<WidenedTensor>& tensors);

}  // namespace draftscope::engine::gguf
