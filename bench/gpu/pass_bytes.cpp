// SPDX-License-Identifier: GPL-3.0-or-later
#include "pass_bytes.h"

namespace draftscope::bench {

namespace {

using engine::TensorView;

constexpr std::size_t cache_value_bytes = 2;

std::size_t matrix_bytes(const TensorView& matrix, bool fp8) {
  if (!matrix.present() || !fp8) return matrix.present() ? matrix.bytes() : 0;
  const auto rows = static_cast<std::size_t>(matrix.rows);
  return rows * static_cast<std::size_t>(matrix.columns) + rows * sizeof(float);
}

std::size_t layer_bytes(const engine::LayerWeights& layer, bool fp8) {
  std::size_t bytes = 0;
  for (const TensorView* matrix :
       {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
    bytes += matrix_bytes(*matrix, fp8);
  for (const TensorView* vector :
       {&layer.attention_norm, &layer.mlp_norm, &layer.q_norm, &layer.k_norm, &layer.attention_output_norm,
        &layer.mlp_output_norm, &layer.q_bias, &layer.k_bias, &layer.v_bias, &layer.o_bias, &layer.gate_bias,
        &layer.up_bias, &layer.down_bias})
    bytes += matrix_bytes(*vector, false);
  return bytes;
}

}  // namespace

std::size_t pass_bytes(const engine::Checkpoint& checkpoint, bool fp8, std::int32_t n_layers,
                       std::int32_t context) {
  const engine::Weights& weights = checkpoint.weights;
  std::size_t bytes = matrix_bytes(weights.head, false) + matrix_bytes(weights.final_norm, false);
  if (weights.head.data != weights.embedding.data)  // a tied head has the row
    bytes +=
        static_cast<std::size_t>(checkpoint.shape.d_model) * engine::dtype_bytes(weights.embedding.dtype);
  const std::size_t cache_row = 2 * static_cast<std::size_t>(checkpoint.shape.kv_width()) * cache_value_bytes;
  for (std::int32_t layer = 0; layer < n_layers; ++layer)
    bytes += layer_bytes(weights.layers[static_cast<std::size_t>(layer)], fp8) +
             cache_row * static_cast<std::size_t>(context);
  return bytes;
}

}  // namespace draftscope::bench
