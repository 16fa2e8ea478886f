// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_bytes.h"

#include <draftscope/speculation/weight_format.h>

namespace draftscope::bench {

namespace {

using engine::TensorView;

constexpr std::size_t cache_value_bytes = 2;

/// Bytes of a matrix [outputs][depth] that was rounded, scales included.
std::size_t rounded_bytes(std::size_t outputs, std::size_t depth, speculation::WeightFormat format) {
  const double bits = speculation::weight_format_row(format).bits;
  const auto values = static_cast<std::size_t>(static_cast<double>(outputs * depth) * bits / 8.0);
  return format == speculation::WeightFormat::fp8 ? values + outputs * sizeof(float) : values;
}

std::size_t matrix_bytes(const TensorView& matrix, engine::CudaWeights rounded) {
  if (!matrix.present() || !rounded) return matrix.present() ? matrix.bytes() : 0;
  return rounded_bytes(static_cast<std::size_t>(matrix.rows), static_cast<std::size_t>(matrix.columns),
                       *rounded);
}

std::size_t layer_bytes(const engine::LayerWeights& layer, engine::CudaWeights rounded) {
  std::size_t bytes = 0;
  for (const TensorView* matrix :
       {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
    bytes += matrix_bytes(*matrix, rounded);
  for (const TensorView* vector :
       {&layer.attention_norm, &layer.mlp_norm, &layer.q_norm, &layer.k_norm, &layer.attention_output_norm,
        &layer.mlp_output_norm, &layer.q_bias, &layer.k_bias, &layer.v_bias, &layer.o_bias, &layer.gate_bias,
        &layer.up_bias, &layer.down_bias})
    bytes += matrix_bytes(*vector, std::nullopt);
  return bytes;
}

}  // namespace

std::size_t pass_bytes(const engine::Checkpoint& checkpoint, engine::CudaWeights rounded,
                       std::int32_t n_layers, std::int32_t context) {
  const engine::Weights& weights = checkpoint.weights;
  std::size_t bytes =
      matrix_bytes(weights.head, std::nullopt) + matrix_bytes(weights.final_norm, std::nullopt);
  if (weights.head.data != weights.embedding.data)  // A tied head already includes the row.
    bytes +=
        static_cast<std::size_t>(checkpoint.shape.d_model) * engine::dtype_bytes(weights.embedding.dtype);
  const std::size_t cache_row = 2 * static_cast<std::size_t>(checkpoint.shape.kv_width()) * cache_value_bytes;
  for (std::int32_t layer = 0; layer < n_layers; ++layer)
    bytes += layer_bytes(weights.layers[static_cast<std::size_t>(layer)], rounded) +
             cache_row * static_cast<std::size_t>(context);
  return bytes;
}

}  // namespace draftscope::bench
