// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/checkpoint.h>

#include "tensor_slots.h"

namespace draftscope::engine {

std::size_t Checkpoint::parameters() const {
  std::size_t numbers = 0;
  for (const auto& tensor : named_tensors(shape, weights))
    numbers += static_cast<std::size_t>(tensor.view.rows) * static_cast<std::size_t>(tensor.view.columns);
  return numbers;
}

std::size_t Checkpoint::weight_bytes() const {
  std::size_t bytes = 0;
  for (const auto& tensor : named_tensors(shape, weights)) bytes += tensor.view.bytes();
  return bytes;
}

std::size_t Checkpoint::bytes_per_step() const {
  if (shape.tied_embeddings) return weight_bytes();  // the head reads the whole table
  const auto row_bytes = static_cast<std::size_t>(shape.d_model) * dtype_bytes(weights.embedding.dtype);
  return weight_bytes() - weights.embedding.bytes() + row_bytes;
}

}  // namespace draftscope::engine
