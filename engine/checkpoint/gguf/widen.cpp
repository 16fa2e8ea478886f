// SPDX-License-Identifier: GPL-3.0-or-later
#include "widen.h"

#include <draftscope/base/parallel.h>
#include <algorithm>
#include <array>
#include <cstring>

#include "architectures.h"
#include "cpu/kernels/bf16.h"

namespace draftscope::engine::gguf {
namespace {

/// A run of rows of one tensor, small enough to share among threads.
struct Part {
  std::size_t tensor;
  std::int64_t first_row;
  std::int64_t rows;
};

std::vector<Part> split(const std::vector<WidenedTensor>& tensors) {
  constexpr std::int64_t part_weights = std::int64_t{1} << 22;
  std::vector<Part> parts;
  for (std::size_t index = 0; index < tensors.size(); ++index) {
    const std::int64_t rows = tensors[index].rows;
    const std::int64_t step = std::max<std::int64_t>(1, part_weights / tensors[index].columns);
    for (std::int64_t row = 0; row < rows; row += step)
      parts.push_back({index, row, std::min(step, rows - row)});
  }
  return parts;
}

void widen_row(const WidenedTensor& tensor, const std::byte* packed, std::byte* out) {
  const BlockFormat& format = *tensor.format;
  const auto columns = static_cast<std::size_t>(tensor.columns);
  if (format.plain == tensor.dtype) {
    std::memcpy(out, packed, columns * dtype_bytes(tensor.dtype));
    return;
  }
  constexpr std::size_t run = 1024;  // weights; a multiple of every block's
  std::array<float, run> wide{};
  for (std::size_t begin = 0; begin < columns; begin += run) {
    const std::size_t count = std::min(run, columns - begin);
    const std::size_t blocks = count / format.weights;
    format.unpack(packed, blocks, wide.data());
    packed += blocks * format.bytes;
    if (tensor.dtype == DType::f32) {
      std::memcpy(out + begin * sizeof(float), wide.data(), count * sizeof(float));
      continue;
    }
    std::array<std::uint16_t, run> narrow{};
    for (std::size_t i = 0; i < count; ++i) narrow[i] = cpu::float_to_bf16(wide[i]);
    std::memcpy(out + begin * sizeof(std::uint16_t), narrow.data(), count * sizeof(std::uint16_t));
  }
}

}  // namespace

void widen(const std::vector<WidenedTensor>& tensors) {
  const std::vector<Part> parts = split(tensors);
  for_each_index(parts.size(), usable_processors(), [&](std::size_t index) {
    const Part& part = parts[index];
    const WidenedTensor& tensor = tensors[part.tensor];
    const auto stored_bytes =
        static_cast<std::size_t>(tensor.columns) / tensor.format->weights * tensor.format->bytes;
    const auto row_bytes = static_cast<std::size_t>(tensor.columns) * dtype_bytes(tensor.dtype);
    for (std::int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
      const std::int64_t stored = tensor.paired_head_dim > 0 ? paired_row(row, tensor.paired_head_dim) : row;
      widen_row(tensor, tensor.packed + static_cast<std::size_t>(stored) * stored_bytes,
                tensor.out + static_cast<std::size_t>(row) * row_bytes);
    }
  });
}

}  // namespace draftscope::engine::gguf
