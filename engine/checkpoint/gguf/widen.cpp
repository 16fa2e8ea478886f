// SPDX-License-Identifier: GPL-3.0-or-later
#include "widen.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "architectures.h"
#include "checkpoint/element_bits.h"
#include "checkpoint/row_parts.h"

namespace draftscope::engine::gguf {
namespace {

void widen_row(const WidenedTensor& tensor, const std::byte* packed, std::byte* out) {
  const BlockFormat& format = *tensor.format;
  const auto columns = static_cast<std::size_t>(tensor.columns);
  if (tensor.keeps_blocks || format.plain == tensor.dtype) {
    std::memcpy(out, packed, columns / format.weights * format.bytes);
    return;
  }
  constexpr std::size_t run = 1024;  // weights; a multiple of every format's block
  std::array<float, run> wide{};
  for (std::size_t begin = 0; begin < columns; begin += run) {
    const std::size_t count = std::min(run, columns - begin);
    const std::size_t blocks = count / format.weights;
    format.unpack(packed, blocks, wide.data());
    packed += blocks * format.bytes;
    if (tensor.scale != 1.0F)
      for (float& weight : std::span(wide).first(count)) weight *= tensor.scale;
    store_values(std::span(wide).first(count), tensor.dtype, out + begin * dtype_bytes(tensor.dtype));
  }
}

}  // namespace

std::vector<std::byte> widened_rows(const TensorView& tensor, std::int64_t first, std::int64_t rows) {
  const auto count = static_cast<std::size_t>(rows);
  const std::size_t row_bytes = static_cast<std::size_t>(tensor.columns) * dtype_bytes(tensor.dtype);
  std::vector<std::byte> wide(count * row_bytes);
  WidenedTensor one{tensor.data, tensor.blocks, rows, tensor.columns, 0, tensor.dtype, wide.data(), false};
  for (std::size_t row = 0; row < count; ++row)
    widen_row(one, tensor.data + (static_cast<std::size_t>(first) + row) * tensor.row_bytes(),
              wide.data() + row * row_bytes);
  return wide;
}

void widen(const std::vector<WidenedTensor>& tensors) {
  constexpr std::int64_t part_weights = std::int64_t{1} << 22;
  const std::vector<RowPart> parts = row_parts(
      tensors, part_weights, [](const WidenedTensor& tensor) -> const WidenedTensor& { return tensor; });
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const RowPart& part = parts[index];
    const WidenedTensor& tensor = tensors[part.tensor];
    const auto stored_bytes =
        static_cast<std::size_t>(tensor.columns) / tensor.format->weights * tensor.format->bytes;
    const auto row_bytes = tensor.keeps_blocks
                               ? stored_bytes
                               : static_cast<std::size_t>(tensor.columns) * dtype_bytes(tensor.dtype);
    for (std::int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
      const std::int64_t stored = tensor.paired_head_dim > 0 ? paired_row(row, tensor.paired_head_dim) : row;
      widen_row(tensor, tensor.packed + static_cast<std::size_t>(stored) * stored_bytes,
                tensor.out + static_cast<std::size_t>(row) * row_bytes);
    }
  });
}

}  // namespace draftscope::engine::gguf
