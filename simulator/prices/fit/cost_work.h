// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The work of a pass, operation by operation: bytes that must move, and arithmetic. Computed from shapes
// alone; what it takes is the cost model's part (cost_model.h).

#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/operation.h>
#include <cstdint>

namespace draftscope::simulator {

struct Work {
  double launches = 0.0;  ///< kernels (GPU) or parallel sections (CPU) that one execution takes
  double weight_bytes = 0.0;
  double bytes = 0.0;  ///< everything: weights and the activations of all rows, without K/V of the context
  double kv_bytes_per_context_row = 0.0;  ///< attention: keys and values of one row, all K/V heads, read once
  double flops = 0.0;                     ///< without the context's part
};

/// One execution with `rows` rows, on each of `tensor_parallel` GPUs that share the model: heads, columns of
/// the first and rows of the second product of a sublayer, and the vocabulary are split; K/V heads only as
/// far as there are any (n_kv_heads ≥ degree).
[[nodiscard]] Work work_of(speculation::Operation operation, const ModelShape& shape, WeightType type,
                           double rows, std::int32_t tensor_parallel = 1);

/// Weights that one pass through all layers and the head reads.
[[nodiscard]] double weight_bytes_per_step(const ModelShape& shape, WeightType type);

}  // namespace draftscope::simulator
