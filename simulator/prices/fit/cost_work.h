// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Work of a pass per operation: bytes that must move, and arithmetic. It is computed from shapes only; its
// time is left to the cost model (cost_model.h).

#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/operation.h>
#include <cstdint>

namespace draftscope::simulator {

struct Work {
  double launches = 0.0;  ///< Kernels (GPU) or parallel sections (CPU) per execution.
  double weight_bytes = 0.0;
  double bytes = 0.0;  ///< Total: weights and the activations of all rows, without K/V of the context.
  double kv_bytes_per_context_row = 0.0;  ///< Attention: K/V of one row, all K/V heads, read once.
  double flops = 0.0;                     ///< Without the part that depends on the context.
};

/// Work of one execution with `rows` rows, on each of `tensor_parallel` GPUs that share the model. Heads,
/// columns of the first and rows of the second product of a sublayer, and the vocabulary are split; K/V heads
/// only up to their number (n_kv_heads ≥ degree).
[[nodiscard]] Work work_of(speculation::Operation operation, const ModelShape& shape, WeightType type,
                           double rows, std::int32_t tensor_parallel = 1);

/// Weights that one pass through all layers and the head reads.
[[nodiscard]] double weight_bytes_per_step(const ModelShape& shape, WeightType type);

}  // namespace draftscope::simulator
