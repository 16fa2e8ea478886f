// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A checkpoint as the forward pass reads it: matrices where they are mapped, norm weights and biases as fp32
// copies (a few hundred kilobytes), every shape checked once.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "memory.h"

namespace draftscope::engine::cpu {

struct Matrix {
  const std::byte* data = nullptr;  ///< [outputs][depth]
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
  const float* bias = nullptr;
};

/// Norms are null where the architecture has none.
struct Layer {
  const float* attention_norm = nullptr;
  Matrix q, k, v, o;
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  const float* attention_output_norm = nullptr;
  const float* mlp_norm = nullptr;
  Matrix gate, up, down;
  const float* mlp_output_norm = nullptr;
};

struct Model {
  speculation::ModelShape shape;
  DType dtype = DType::bf16;  ///< of all matrices
  TensorView embedding;
  std::vector<Layer> layers;
  const float* final_norm = nullptr;
  Matrix head;
  Memory vectors;  ///< what the fp32 pointers point into

  [[nodiscard]] DType cache_dtype() const { return dtype == DType::f32 ? DType::f32 : DType::bf16; }
};

/// Fails with the name of the first tensor or shape field that does not fit.
[[nodiscard]] Result<Model> prepare_model(const Checkpoint& checkpoint);

/// `n` values of a tensor's row as fp32.
void copy_row(const TensorView& tensor, std::int64_t row, float* out);

}  // namespace draftscope::engine::cpu
