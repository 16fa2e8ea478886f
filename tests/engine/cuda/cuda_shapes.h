// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/speculation/model_families.h>

#include "random_model.h"

namespace draftscope::engine::test {

/// A random shape within the limits of the CUDA kernels (cuda_backend.h).
inline speculation::ModelShape random_cuda_shape(Random& random) {
  speculation::ModelShape shape = random_shape(random);
  shape.n_layers = pick(random, 1, 3);
  shape.d_model = 8 * pick(random, 1, 20);
  shape.d_ff = 8 * pick(random, 1, 30);
  shape.head_dim = 32 * pick(random, 1, 4);
  shape.n_kv_heads = pick(random, 1, 2);
  shape.n_heads = shape.n_kv_heads * pick(random, 1, 5);
  return shape;
}

/// A random shape with matrices that fp8 takes; the widths are multiples of 16 up to so many times 16.
inline speculation::ModelShape random_fp8_shape(Random& random, int widest_model = 6, int widest_mlp = 8) {
  speculation::ModelShape shape = random_cuda_shape(random);
  shape.d_model = 16 * pick(random, 1, widest_model);
  shape.d_ff = 16 * pick(random, 1, widest_mlp);
  return shape;
}

/// A minimum shape: two layers whose widths are not multiples of the kernels' tiles.
inline speculation::ModelShape tiny_cuda_shape() {
  speculation::ModelShape shape;
  shape.name = "tiny";
  shape.architecture = "LlamaForCausalLM";
  shape.n_layers = 2;
  shape.n_heads = 3;
  shape.n_kv_heads = 1;
  shape.head_dim = 32;
  shape.d_model = 80;
  shape.d_ff = 112;
  shape.vocab = 70;
  shape.max_positions = 512;
  return shape;
}

/// Whether the CUDA kernels compute all differences of a family from Llama.
inline bool computed_by_cuda(const speculation::ModelFamily& family) {
  return family.traits.activation == speculation::Activation::silu &&
         family.traits.full_attention_interval == 0 &&
         family.traits.qk_norm != speculation::QkNorm::rotated_heads &&
         family.rope_key != "llama_4_scaling_beta";
}

}  // namespace draftscope::engine::test
