// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A checkpoint as the forward pass reads it: matrices where they are mapped, norm weights and biases as fp32
// copies (a few hundred kilobytes), every shape checked once.

#include <draftscope/base/result.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/speculation/weight_format.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cpu/kernels/kernels.h"
#include "cpu/quantised/packed_matrix.h"
#include "cpu/quantised/round_to_e4m3.h"
#include "input_squares.h"
#include "memory.h"

namespace draftscope::engine::cpu {

struct Matrix {
  const std::byte* data = nullptr;  ///< [outputs][depth], or in the layout's blocks
  std::int64_t outputs = 0;
  std::int64_t depth = 0;
  const float* bias = nullptr;
  const PackedLayout* layout = nullptr;  ///< null = plain numbers of the model's type

  [[nodiscard]] bool is_packed() const { return layout != nullptr; }
  [[nodiscard]] PackedMatrix packed() const { return {layout, data, outputs, depth}; }
};

/// Weights of a layer. Norms are null if the architecture has none, and `gate` has no data.
struct Layer {
  const float* attention_norm = nullptr;
  Matrix q, k, v, o;
  const float* q_norm = nullptr;
  const float* k_norm = nullptr;
  const float* attention_output_norm = nullptr;
  const float* mlp_norm = nullptr;
  Matrix gate, up, down;
  Xielu xielu;  ///< used if the activation is xIELU
  const float* mlp_output_norm = nullptr;
};

/// The matrices of a model: q, k and v of a layer are all packed or all plain, and so are gate and up.
struct Matrices {
  std::vector<Layer> layers;
  Matrix head;
  Memory packed;  ///< memory of packed matrices, and of plain ones rounded to e4m3
};

struct Model {
  speculation::ModelShape shape;
  DType dtype = DType::bf16;  ///< type of the numbers in plain matrices
  TensorView embedding;
  Matrices matrices;
  const float* final_norm = nullptr;
  Memory vectors;  ///< memory that the fp32 pointers point into

  [[nodiscard]] DType cache_dtype() const { return dtype == DType::f32 ? DType::f32 : DType::bf16; }
};

/// Prepares a model. Fails with the name of the first tensor or shape field that does not fit. The checkpoint
/// must outlive the model.
[[nodiscard]] Result<Model> prepare_model(const Checkpoint& checkpoint);

/// The layout of a format that plain matrices can be rounded to. Errors: the backend can't make the format.
[[nodiscard]] Result<const PackedLayout*> made_layout(const speculation::ModelShape& shape,
                                                      speculation::WeightFormat format);

/// Rounds a model's plain matrices. Errors: memory is short.
[[nodiscard]] Result<void> round_matrices(const Checkpoint& checkpoint, const PackedLayout& layout,
                                          const InputSquares& squares, Model& model);

/// A copy of a model's matrices, all in one format. Errors: memory is short.
[[nodiscard]] Result<Matrices> copy_matrices(const Checkpoint& checkpoint, const Model& model,
                                             const PackedLayout& layout, const InputSquares& squares);

/// A copy of a model's matrices whose layers are rounded to e4m3 and held as plain numbers; the head stays
/// the model's, as on a GPU. Errors: memory is short.
[[nodiscard]] Result<Matrices> copy_in_e4m3(const Checkpoint& checkpoint, const Model& model, E4m3Tile tile);

/// Formats of the matrices, largest share first: "bf16", "q4_1, q8_0".
[[nodiscard]] std::string matrix_formats(const Model& model);
/// Whether any matrix is packed.
[[nodiscard]] bool has_packed_matrices(const Model& model);
/// Bytes of all tensors in memory; a tied embedding counts as the head.
[[nodiscard]] std::size_t held_bytes(const Model& model);

}  // namespace draftscope::engine::cpu
