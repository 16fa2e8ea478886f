// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The matrices of a model's layers.

#include <draftscope/engine/checkpoint.h>

#include <cstddef>

namespace draftscope::engine::test {

inline constexpr TensorView LayerWeights::*layer_matrices[] = {
    &LayerWeights::q,    &LayerWeights::k,  &LayerWeights::v,   &LayerWeights::o,
    &LayerWeights::gate, &LayerWeights::up, &LayerWeights::down};

/// visit(matrix of a, matrix of b) for each of two models of one shape.
template <typename Visit>
void for_each_layer_matrix(Checkpoint& a, Checkpoint& b, Visit&& visit) {
  for (std::size_t i = 0; i < a.weights.layers.size(); ++i)
    for (TensorView LayerWeights::*const matrix : layer_matrices)
      visit(a.weights.layers[i].*matrix, b.weights.layers[i].*matrix);
}

}  // namespace draftscope::engine::test
