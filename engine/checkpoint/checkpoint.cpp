// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>

#include <algorithm>

#include "formats/block_formats.h"
#include "quantised/quantised_matrix.h"
#include "tensor_slots.h"

namespace draftscope::engine {

std::size_t Checkpoint::parameters() const {
  std::size_t numbers = 0;
  for (const auto& tensor : named_tensors(shape, weights))
    numbers += static_cast<std::size_t>(tensor.view.rows) * static_cast<std::size_t>(tensor.view.columns);
  return numbers;
}

bool TensorView::is_fp8() const {
  return quantised != nullptr && quantised->has_output_scales;
}

std::size_t TensorView::row_bytes() const {
  const auto n = static_cast<std::size_t>(columns);
  if (is_fp8()) return n;
  if (quantised != nullptr) {
    const std::size_t scale_bytes = dtype_bytes(quantised->scale_dtype);
    const auto bits = static_cast<std::size_t>(quantised->bits);
    const auto group = static_cast<std::size_t>(quantised->block.columns);
    const std::size_t groups = (n + group - 1) / group;
    if (quantised->form == PackedForm::fp8) {
      const auto sharing = static_cast<std::size_t>(std::min(quantised->block.rows, quantised->rows));
      return n + (groups * scale_bytes + sharing - 1) / sharing;
    }
    return (n * bits + groups * (bits + 8 * scale_bytes) + 7) / 8;
  }
  return blocks == nullptr ? n * dtype_bytes(dtype) : n / blocks->weights * blocks->bytes;
}

TensorView TensorView::rows_from(std::int64_t first, std::int64_t count) const {
  TensorView part = *this;
  part.rows = count;
  if (quantised != nullptr)
    part.first_row += first;
  else
    part.data += static_cast<std::size_t>(first) * row_bytes();
  return part;
}

bool Checkpoint::has_blocks() const {
  const auto tensors = named_tensors(shape, weights);
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const NamedTensor& tensor) { return tensor.view.blocks != nullptr; });
}

bool Checkpoint::has_fp8() const {
  return std::any_of(weights.layers.begin(), weights.layers.end(),
                     [](const LayerWeights& layer) { return layer.q.is_fp8(); });
}

bool Checkpoint::has_quantised() const {
  return std::any_of(weights.layers.begin(), weights.layers.end(), [](const LayerWeights& layer) {
    return layer.q.quantised != nullptr && !layer.q.is_fp8();
  });
}

std::size_t Checkpoint::weight_bytes() const {
  std::size_t bytes = 0;
  for (const auto& tensor : named_tensors(shape, weights)) bytes += tensor.view.bytes();
  return bytes;
}

std::size_t Checkpoint::bytes_per_step() const {
  if (shape.tied_embeddings) return weight_bytes();  // The head reads the whole table.
  return weight_bytes() - weights.embedding.bytes() + weights.embedding.row_bytes();
}

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "fp32";
    case DType::bf16:
      return "bf16";
    case DType::f16:
      return "fp16";
  }
  return "unknown";
}

}  // namespace draftscope::engine
