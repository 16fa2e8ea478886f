// SPDX-License-Identifier: GPL-3.0-or-later
#include "pack_matrices.h"

#include <draftscope/base/parallel.h>
#include <algorithm>

#include "checkpoint/element_bits.h"
#include "checkpoint/row_parts.h"
#include "cpu/model.h"
#include "formats/block_formats.h"
#include "packed_matrix.h"
#include "quantise.h"

namespace draftscope::engine::cpu {
namespace {

void quantise_rows(const PackedTensor& tensor, std::int64_t first, std::int64_t end) {
  const std::int64_t depth = tensor.source.columns;
  const std::int64_t blocks = packed_blocks(*tensor.layout, depth);
  std::vector<float> row(static_cast<std::size_t>(blocks * block_depth));
  std::vector<float> importance(tensor.importance.begin(), tensor.importance.end());
  const bool weighed = !importance.empty();
  importance.resize(row.size());
  for (std::int64_t output = first; output < end; ++output) {
    copy_row(tensor.source, output, row.data());
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t k = block * block_depth;
      put_block(*tensor.layout, tensor.data, depth, output, block,
                quantise_block(*tensor.layout, row.data() + k, std::min(block_depth, depth - k),
                               weighed ? importance.data() + k : nullptr));
    }
  }
}

/// Moves stored blocks to their places.
void move_rows(const PackedTensor& tensor, std::int64_t first, std::int64_t end) {
  const std::int64_t depth = tensor.source.columns;
  const std::int64_t blocks = depth / block_depth;  // Stored rows consist of whole blocks.
  for (std::int64_t output = first; output < end; ++output) {
    const std::byte* row = tensor.source.data + static_cast<std::size_t>(output) * tensor.source.row_bytes();
    for (std::int64_t block = 0; block < blocks; ++block)
      put_block(*tensor.layout, tensor.data, depth, output, block, tensor.source.blocks->read(row, block));
  }
}

bool is_stored_so(const PackedTensor& tensor) {
  return tensor.source.blocks != nullptr && tensor.source.blocks->multiplied == tensor.layout->format;
}

}  // namespace

void pack_matrices(const std::vector<PackedTensor>& tensors) {
  constexpr std::int64_t part_weights = std::int64_t{1} << 20;
  // Each group is packed by one thread, since its outputs share bytes.
  struct Groups {
    std::int64_t rows, columns;
  };
  const std::vector<RowPart> parts = row_parts(tensors, part_weights, [](const PackedTensor& tensor) {
    return Groups{(tensor.source.rows + group_outputs - 1) / group_outputs,
                  group_outputs * tensor.source.columns};
  });
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const RowPart& part = parts[index];
    const PackedTensor& tensor = tensors[part.tensor];
    const std::int64_t first = part.first_row * group_outputs;
    const std::int64_t end = std::min(tensor.source.rows, (part.first_row + part.rows) * group_outputs);
    is_stored_so(tensor) ? move_rows(tensor, first, end) : quantise_rows(tensor, first, end);
  });
}

}  // namespace draftscope::engine::cpu
