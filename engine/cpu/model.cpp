// SPDX-License-Identifier: GPL-3.0-or-later
#include "model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "checkpoint/element_bits.h"
#include "checkpoint/quantised/quantised_matrix.h"
#include "cpu/quantised/pack_matrices.h"
#include "formats/block_formats.h"
#include "numbers/bf16.h"
#include "numbers/trait_numbers.h"

namespace draftscope::engine::cpu {
namespace {

Result<void> check_shape(const speculation::ModelShape& shape) {
  struct Field {
    std::string_view name;
    std::int32_t value;
  };
  for (const Field& field :
       {Field{"n_layers", shape.n_layers}, Field{"d_model", shape.d_model}, Field{"n_heads", shape.n_heads},
        Field{"n_kv_heads", shape.n_kv_heads}, Field{"head_dim", shape.head_dim}, Field{"d_ff", shape.d_ff},
        Field{"vocab", shape.vocab}, Field{"max_positions", shape.max_positions}})
    if (field.value < 1)
      return fail("model {}: {} is {}, expected at least 1", shape.name, field.name, field.value);
  if (shape.n_heads % shape.n_kv_heads != 0)
    return fail("model {}: n_heads is {}, expected a multiple of n_kv_heads {}", shape.name, shape.n_heads,
                shape.n_kv_heads);
  if (shape.head_dim % 2 != 0)
    return fail("model {}: head_dim is {}, expected an even number", shape.name, shape.head_dim);
  const bool is_of_gates = shape.traits.activation <= speculation::Activation::gelu_tanh;
  if (shape.traits.gated_mlp != is_of_gates)
    return fail("model {}: found an activation of MLPs {} a gate, expected one of MLPs {}", shape.name,
                is_of_gates ? "with" : "without", is_of_gates ? "without" : "with");
  return {};
}

/// Checks tensors one by one and appends fp32 copies of vectors.
class Preparation {
 public:
  Preparation(Model& model, std::size_t vector_values) : model_(model), capacity_(vector_values) {}

  Result<void> matrix(const std::string& name, const TensorView& tensor, std::int64_t outputs,
                      std::int64_t depth, Matrix& out) const {
    DRAFTSCOPE_TRY(expect(name, tensor, outputs, depth));
    if (tensor.dtype != model_.dtype)
      return fail("model {}: {} is {}, expected {} as the embedding", model_.shape.name, name,
                  dtype_name(tensor.dtype), dtype_name(model_.dtype));
    out.data = tensor.data;
    out.outputs = outputs;
    out.depth = depth;
    return {};
  }

  Result<void> vector(const std::string& name, const TensorView& tensor, std::int64_t values,
                      const float*& out) {
    DRAFTSCOPE_TRY(expect(name, tensor, 1, values));
    const auto count = static_cast<std::size_t>(values);
    if (used_ + count > capacity_)
      return fail("model {}: {} is present, expected no such bias", model_.shape.name, name);
    float* copy = model_.vectors.as<float>() + used_;
    copy_row(tensor, 0, copy);
    used_ += count;
    out = copy;
    return {};
  }

  Result<void> bias(const std::string& name, const TensorView& tensor, Matrix& matrix) {
    return tensor.present() ? vector(name, tensor, matrix.outputs, matrix.bias) : Result<void>{};
  }

  Result<void> norm(const std::string& name, const TensorView& tensor, std::int64_t values,
                    const float*& out) {
    DRAFTSCOPE_TRY(vector(name, tensor, values, out));
    float* copy = model_.vectors.as<float>() + used_ - values;
    for (std::int64_t i = 0; i < values; ++i) copy[i] += norm_offset(model_.shape);
    return {};
  }

  /// Prepares the norms that a layer's traits ask for.
  Result<void> norms(const std::string& prefix, const LayerWeights& weights, Layer& out) {
    const speculation::ModelShape& shape = model_.shape;
    if (shape.traits.norm_place != speculation::NormPlace::after) {
      DRAFTSCOPE_TRY(
          norm(prefix + "attention_norm", weights.attention_norm, shape.d_model, out.attention_norm));
      DRAFTSCOPE_TRY(norm(prefix + "mlp_norm", weights.mlp_norm, shape.d_model, out.mlp_norm));
    }
    if (shape.traits.norm_place != speculation::NormPlace::before) {
      DRAFTSCOPE_TRY(norm(prefix + "attention_output_norm", weights.attention_output_norm, shape.d_model,
                          out.attention_output_norm));
      DRAFTSCOPE_TRY(
          norm(prefix + "mlp_output_norm", weights.mlp_output_norm, shape.d_model, out.mlp_output_norm));
    }
    if (shape.traits.qk_norm == speculation::QkNorm::none) return {};
    const bool whole = shape.traits.qk_norm == speculation::QkNorm::whole;
    DRAFTSCOPE_TRY(
        norm(prefix + "q_norm", weights.q_norm, whole ? shape.q_width() : shape.head_dim, out.q_norm));
    return norm(prefix + "k_norm", weights.k_norm, whole ? shape.kv_width() : shape.head_dim, out.k_norm);
  }

  /// Reads the numbers of xIELU, whose alphas are positive.
  Result<void> xielu(const std::string& prefix, const LayerWeights& weights, Xielu& out) const {
    for (const auto& [name, tensor, number] : {std::tuple{"alpha_p", &weights.alpha_p, &out.alpha_p},
                                               {"alpha_n", &weights.alpha_n, &out.alpha_n},
                                               {"beta", &weights.beta, &out.beta},
                                               {"epsilon", &weights.epsilon, &out.epsilon}}) {
      DRAFTSCOPE_TRY(expect(prefix + name, *tensor, 1, 1));
      copy_row(*tensor, 0, number);
    }
    const auto softplus = [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); };
    out.alpha_p = static_cast<float>(softplus(out.alpha_p));
    out.alpha_n = static_cast<float>(out.beta + softplus(out.alpha_n));
    return {};
  }

  Result<void> layer(const std::string& prefix, const LayerWeights& weights, Layer& out) {
    const speculation::ModelShape& shape = model_.shape;
    DRAFTSCOPE_TRY(norms(prefix, weights, out));
    DRAFTSCOPE_TRY(matrix(prefix + "q", weights.q, shape.q_width(), shape.d_model, out.q));
    DRAFTSCOPE_TRY(matrix(prefix + "k", weights.k, shape.kv_width(), shape.d_model, out.k));
    DRAFTSCOPE_TRY(matrix(prefix + "v", weights.v, shape.kv_width(), shape.d_model, out.v));
    DRAFTSCOPE_TRY(matrix(prefix + "o", weights.o, shape.d_model, shape.q_width(), out.o));
    if (shape.traits.gated_mlp)
      DRAFTSCOPE_TRY(matrix(prefix + "gate", weights.gate, shape.d_ff, shape.d_model, out.gate));
    DRAFTSCOPE_TRY(matrix(prefix + "up", weights.up, shape.d_ff, shape.d_model, out.up));
    DRAFTSCOPE_TRY(matrix(prefix + "down", weights.down, shape.d_model, shape.d_ff, out.down));
    DRAFTSCOPE_TRY(bias(prefix + "q_bias", weights.q_bias, out.q));
    DRAFTSCOPE_TRY(bias(prefix + "k_bias", weights.k_bias, out.k));
    DRAFTSCOPE_TRY(bias(prefix + "v_bias", weights.v_bias, out.v));
    DRAFTSCOPE_TRY(bias(prefix + "o_bias", weights.o_bias, out.o));
    if (shape.traits.activation == speculation::Activation::xielu)
      DRAFTSCOPE_TRY(xielu(prefix, weights, out.xielu));
    DRAFTSCOPE_TRY(bias(prefix + "gate_bias", weights.gate_bias, out.gate));
    DRAFTSCOPE_TRY(bias(prefix + "up_bias", weights.up_bias, out.up));
    return bias(prefix + "down_bias", weights.down_bias, out.down);
  }

 private:
  Result<void> expect(const std::string& name, const TensorView& tensor, std::int64_t rows,
                      std::int64_t columns) const {
    if (!tensor.present())
      return fail("model {}: {} is absent, expected [{}][{}]", model_.shape.name, name, rows, columns);
    if (tensor.rows != rows || tensor.columns != columns)
      return fail("model {}: {} is [{}][{}], expected [{}][{}]", model_.shape.name, name, tensor.rows,
                  tensor.columns, rows, columns);
    return {};
  }

  Model& model_;
  std::size_t capacity_;
  std::size_t used_ = 0;
};

/// Calls visit(tensor, matrix, squares) with every matrix, its tensor, and the squares of its inputs.
template <typename Visit>
void for_each_matrix(const Weights& weights, const InputSquares& squares, Matrices& matrices, Visit visit) {
  const InputSquares::Layer unknown;
  for (std::size_t layer = 0; layer < matrices.layers.size(); ++layer) {
    const LayerWeights& tensors = weights.layers[layer];
    const InputSquares::Layer& inputs = squares.layers.empty() ? unknown : squares.layers[layer];
    Layer& held = matrices.layers[layer];
    visit(tensors.q, held.q, inputs.attention);
    visit(tensors.k, held.k, inputs.attention);
    visit(tensors.v, held.v, inputs.attention);
    visit(tensors.o, held.o, inputs.output);
    if (tensors.gate.present()) visit(tensors.gate, held.gate, inputs.mlp);
    visit(tensors.up, held.up, inputs.mlp);
    visit(tensors.down, held.down, inputs.down);
  }
  visit(weights.head, matrices.head, squares.head);
}

/// Calls visit(matrix) with every matrix.
template <typename Visit>
void for_each_matrix(const Matrices& matrices, Visit visit) {
  for (const Layer& layer : matrices.layers)
    for (const Matrix* matrix : {&layer.q, &layer.k, &layer.v, &layer.o, &layer.gate, &layer.up, &layer.down})
      if (matrix->data != nullptr) visit(*matrix);
  visit(matrices.head);
}

constexpr std::size_t matrix_alignment = 4096;

struct Packing {
  TensorView tensor;
  const PackedLayout* layout;
  Matrix* matrix;
  std::span<const float> importance;  ///< importance of each column; empty = unknown
};

/// Packs matrices into memory that it allocates, and points them at it.
Result<void> pack(const std::vector<Packing>& packings, Memory& memory) {
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for (const Packing& packing : packings) {
    offsets.push_back(bytes);
    const std::size_t own = packed_bytes(*packing.layout, packing.matrix->outputs, packing.matrix->depth);
    bytes += (own + matrix_alignment - 1) / matrix_alignment * matrix_alignment;
  }
  DRAFTSCOPE_TRY_ASSIGN(memory, Memory::allocate(bytes, Pages::large));
  std::vector<PackedTensor> tensors;
  for (std::size_t i = 0; i < packings.size(); ++i) {
    const auto& [tensor, layout, matrix, importance] = packings[i];
    matrix->data = memory.data() + offsets[i];
    matrix->layout = layout;
    tensors.push_back({tensor, layout, memory.data() + offsets[i], importance});
  }
  pack_matrices(tensors);
  return {};
}

/// The layout of a tensor in blocks, otherwise null.
const PackedLayout* stored_layout(const TensorView& tensor) {
  return tensor.blocks == nullptr ? nullptr : packed_layout(*tensor.blocks->multiplied);
}

/// Packs the tensors in blocks; also packs all others if a layout is given.
Result<void> pack_matrices_of(const Checkpoint& checkpoint, const PackedLayout* layout,
                              const InputSquares& squares, Matrices& matrices) {
  std::vector<Packing> packings;
  for_each_matrix(checkpoint.weights, squares, matrices,
                  [&](const TensorView& tensor, Matrix& matrix, std::span<const float> inputs) {
                    const PackedLayout* own = stored_layout(tensor);
                    if (own == nullptr && layout == nullptr) return;
                    packings.push_back({tensor, own != nullptr ? own : layout, &matrix, inputs});
                  });
  return pack(packings, matrices.packed);
}

speculation::WeightFormat format_of(const Matrix& matrix, DType plain) {
  using enum speculation::WeightFormat;
  if (matrix.is_packed()) return matrix.layout->format;
  return plain == DType::f32 ? f32 : (plain == DType::f16 ? f16 : bf16);
}

}  // namespace

Result<Model> prepare_model(const Checkpoint& checkpoint) {
  Model model;
  model.shape = checkpoint.shape;
  const speculation::ModelShape& shape = model.shape;
  DRAFTSCOPE_TRY(check_shape(shape));
  const Weights& weights = checkpoint.weights;
  model.dtype = weights.embedding.dtype;
  if (weights.layers.size() != static_cast<std::size_t>(shape.n_layers))
    return fail("model {}: the weights hold {} layers, expected n_layers {}", shape.name,
                weights.layers.size(), shape.n_layers);
  const std::size_t layer_values =
      6 * static_cast<std::size_t>(shape.d_model) + 2 * static_cast<std::size_t>(shape.q_width()) +
      3 * static_cast<std::size_t>(shape.kv_width()) + 2 * static_cast<std::size_t>(shape.d_ff);
  const std::size_t values =
      layer_values * static_cast<std::size_t>(shape.n_layers) + static_cast<std::size_t>(shape.d_model);
  DRAFTSCOPE_TRY_ASSIGN(model.vectors, Memory::allocate(values * sizeof(float)));

  Preparation preparation(model, values);
  Matrix embedding;
  DRAFTSCOPE_TRY(preparation.matrix("embedding", weights.embedding, shape.vocab, shape.d_model, embedding));
  model.embedding = weights.embedding;
  model.matrices.layers.resize(weights.layers.size());
  for (std::size_t layer = 0; layer < weights.layers.size(); ++layer)
    DRAFTSCOPE_TRY(preparation.layer(fmt::format("layer {} ", layer), weights.layers[layer],
                                     model.matrices.layers[layer]));
  DRAFTSCOPE_TRY(preparation.norm("final_norm", weights.final_norm, shape.d_model, model.final_norm));
  DRAFTSCOPE_TRY(preparation.matrix("head", weights.head, shape.vocab, shape.d_model, model.matrices.head));
  DRAFTSCOPE_TRY(pack_matrices_of(checkpoint, nullptr, {}, model.matrices));
  return model;
}

Result<const PackedLayout*> made_layout(const speculation::ModelShape& shape,
                                        speculation::WeightFormat format) {
  const speculation::WeightFormatRow& row = speculation::weight_format_row(format);
  if (speculation::makes(speculation::MadeBy::cpu, row)) return packed_layout(format);
  return fail("model {}: found weights {}, expected one of {}", shape.name, row.name,
              speculation::made_weight_formats(speculation::MadeBy::cpu));
}

Result<void> round_matrices(const Checkpoint& checkpoint, const PackedLayout& layout,
                            const InputSquares& squares, Model& model) {
  return pack_matrices_of(checkpoint, &layout, squares, model.matrices);
}

Result<Matrices> copy_matrices(const Checkpoint& checkpoint, const Model& model, const PackedLayout& layout,
                               const InputSquares& squares) {
  Matrices copy;
  copy.layers = model.matrices.layers;
  copy.head = model.matrices.head;
  std::vector<Packing> packings;
  for_each_matrix(checkpoint.weights, squares, copy,
                  [&](const TensorView& tensor, Matrix& matrix, std::span<const float> inputs) {
                    // A matrix that already has this format is shared.
                    if (matrix.layout != &layout) packings.push_back({tensor, &layout, &matrix, inputs});
                  });
  DRAFTSCOPE_TRY(pack(packings, copy.packed));
  return copy;
}

Result<Matrices> copy_in_e4m3(const Checkpoint& checkpoint, const Model& model, E4m3Tile tile) {
  Matrices copy;
  copy.layers = model.matrices.layers;
  copy.head = model.matrices.head;
  std::vector<E4m3Tensor> tensors;
  std::vector<Matrix*> matrices;
  std::vector<std::size_t> offsets;
  std::size_t bytes = 0;
  for_each_matrix(checkpoint.weights, {}, copy,
                  [&](const TensorView& tensor, Matrix& matrix, std::span<const float> /*inputs*/) {
                    if (&matrix == &copy.head) return;
                    tensors.push_back({tensor, nullptr});
                    matrices.push_back(&matrix);
                    offsets.push_back(bytes);
                    const std::size_t own = static_cast<std::size_t>(matrix.outputs * matrix.depth);
                    bytes += (own * dtype_bytes(model.dtype) + matrix_alignment - 1) / matrix_alignment *
                             matrix_alignment;
                  });
  DRAFTSCOPE_TRY_ASSIGN(copy.packed, Memory::allocate(bytes, Pages::large));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].data = copy.packed.data() + offsets[i];
    matrices[i]->data = tensors[i].data;
    matrices[i]->layout = nullptr;
  }
  round_to_e4m3(tensors, tile, model.dtype);
  return copy;
}

std::string matrix_formats(const Model& model) {
  std::map<speculation::WeightFormat, std::int64_t> weights;
  for_each_matrix(model.matrices, [&](const Matrix& matrix) {
    weights[format_of(matrix, model.dtype)] += matrix.outputs * matrix.depth;
  });
  std::vector<std::pair<speculation::WeightFormat, std::int64_t>> order(weights.begin(), weights.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (const auto& [format, n] : order)
    text += (text.empty() ? "" : ", ") + std::string(speculation::weight_format_name(format));
  return text;
}

bool has_packed_matrices(const Model& model) {
  bool has = false;
  for_each_matrix(model.matrices, [&](const Matrix& matrix) { has = has || matrix.is_packed(); });
  return has;
}

std::size_t held_bytes(const Model& model) {
  std::size_t all = model.vectors.bytes();
  if (!model.shape.tied_embeddings) all += model.embedding.bytes();
  for_each_matrix(model.matrices, [&](const Matrix& matrix) {
    all += matrix.is_packed()
               ? packed_bytes(*matrix.layout, matrix.outputs, matrix.depth)
               : static_cast<std::size_t>(matrix.outputs * matrix.depth) * dtype_bytes(model.dtype);
  });
  return all;
}

}  // namespace draftscope::engine::cpu
