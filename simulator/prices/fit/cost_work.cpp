// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/fit/cost_work.h"

#include <algorithm>

namespace draftscope::simulator {

namespace {

struct Product {
  double outputs;
  double depth;
};

Product product_of(speculation::Operation operation, const ModelShape& shape, double parts) {
  const double d_model = shape.d_model;
  const double q_width = static_cast<double>(shape.q_width()) / parts;
  // A GPU has at least one K/V head.
  const double kv_width = std::max<double>(static_cast<double>(shape.kv_width()) / parts, shape.head_dim);
  const double d_ff = shape.d_ff / parts;
  switch (operation) {
    case speculation::Operation::qkv:
      return {q_width + 2.0 * kv_width, d_model};
    case speculation::Operation::output:
      return {d_model, q_width};
    case speculation::Operation::gate_up:
      return {shape.mlp_input_matrices() * d_ff, d_model};
    case speculation::Operation::down:
      return {d_model, d_ff};
    default:
      return {shape.vocab / parts, d_model};
  }
}

}  // namespace

Work work_of(speculation::Operation operation, const ModelShape& shape, WeightType type, double rows,
             std::int32_t tensor_parallel) {
  const double parts = tensor_parallel;
  const double element = activation_bytes(type);
  const double d_model = shape.d_model;
  const double q_width = static_cast<double>(shape.q_width()) / parts;
  const double kv_width = std::max<double>(static_cast<double>(shape.kv_width()) / parts, shape.head_dim);
  Work work;
  work.launches = 1.0;
  if (operation == speculation::Operation::attention) {
    work.kv_bytes_per_context_row = 2.0 * kv_width * element;
    work.bytes = rows * (2.0 * q_width + 2.0 * kv_width) * element;
    return work;
  }
  if (operation == speculation::Operation::small) {
    // These are two norms and one pass over queries and keys; the gate belongs to its product.
    work.launches = 3.0;
    work.bytes = rows * (4.0 * d_model + 2.0 * (q_width + kv_width)) * element;
    return work;
  }
  const Product product = product_of(operation, shape, parts);
  const double weight = operation == speculation::Operation::head ? element : layer_weight_bytes(type);
  work.weight_bytes = product.outputs * product.depth * weight;
  work.bytes = work.weight_bytes + rows * (product.outputs + product.depth) * element;
  work.flops = 2.0 * rows * product.outputs * product.depth;
  return work;
}

double weight_bytes_per_step(const ModelShape& shape, WeightType type) {
  double layer = 0.0;
  for (const speculation::Operation operation :
       {speculation::Operation::qkv, speculation::Operation::output, speculation::Operation::gate_up,
        speculation::Operation::down})
    layer += work_of(operation, shape, type, 1.0).weight_bytes;
  return shape.n_layers * layer + work_of(speculation::Operation::head, shape, type, 1.0).weight_bytes;
}

}  // namespace draftscope::simulator
