// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The weights of a synthetic model, as a function of only (seed, tensor, element): any thread may make any of
// them in any order and gets the same bits.
//
// The recipe, version 1. Integers are unsigned and wrap; float is IEEE binary32, rounded to nearest even.
//   tensor number  t = 32 × (layer + 1) + kind         layer = -1 outside the layers; kind as TensorKind
//   its key        key = splitmix(seed + 0x9E3779B97F4A7C15 × (t + 1)), 64 bits (base/counter_random.h)
//   bits of element e (row-major index), 32 bits
//                  x = low32(e) ^ low32(key);  x = (x ^ x >> 16) × 0x7FEB352D;  x ^= x >> 15;
//                  x = (x + high32(key) + high32(e) × 0x9E3779B9) × 0x846CA68B;  x ^= x >> 16
//   matrix, bias   s = the sum of the four bytes of x;  value = bf16(float(s - 510) × scale)
//                  s - 510 has mean 0 and variance 21845, and is near normal; bf16() rounds to nearest even
//   norm           value = bf16(scale - o), or bf16(-scale - o) in the final norm if bit 0 of x is set;
//                  o = 1 if the architecture adds 1 to a norm's weight, otherwise 0
//
// The scales (a double computed as written, then rounded to float); r = redundancy, σ = the standard
// deviation:
//   scale = σ / sqrt(21845)  for matrices and biases
//   embedding            σ = 1, divided by the architecture's multiplier of embeddings: no sublayer dominates
//                        the residual stream
//   q, k                 σ = 2 / sqrt(d_model): scores have standard deviation 4, so that attention picks a
//                        few rows and depends on the context at any length
//   v, gate, up, head    σ = 1 / sqrt(d_model)
//   o                    σ = (1 - r) / sqrt(q_width)
//   down                 σ = (1 - r) / sqrt(d_ff)
//   biases               σ = 1/8; for o and down (1 - r) / 8
//   norms in the layers  scale = 1; for sublayers' outputs 1 - r; for queries and keys 2, giving the same
//                        scores
//   q, k, their norms    are also multiplied by sqrt(1 / (m × sqrt(head_dim))) if scores are multiplied by m
//   xIELU's numbers       constants: alphas of 0.8, β = 0.5, ε = −10⁻⁶
//   final norm           scale = 4, tied 4 / sqrt(d_model): logits have a standard deviation of about 4. This
//                        is near sqrt(2 ln vocab), where a softmax of normal logits changes from flat to
//                        peaked, so that top-1 probabilities spread over (0, 1). The signs prevent a tied
//                        head from echoing its input: the embedding's share in the residual stream would
//                        otherwise always have the highest logit. The scale is divided by the multipliers of
//                        tied embeddings and of logits.

#include <draftscope/speculation/model_shape.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor_slots.h"

namespace draftscope::engine {

struct SyntheticSeed {
  std::uint64_t seed = 1;
  double redundancy = 0.0;
};

/// Fills the slots' views with `threads` threads. They must be bf16 and writable memory.
void fill_synthetic(const std::vector<TensorSlot>& slots, const speculation::ModelShape& shape,
                    SyntheticSeed seed, std::size_t threads);

/// Fills norms and biases completely, and matrices only where CheckpointHash samples them.
void fill_synthetic_samples(const std::vector<TensorSlot>& slots, const speculation::ModelShape& shape,
                            SyntheticSeed seed);

}  // namespace draftscope::engine
