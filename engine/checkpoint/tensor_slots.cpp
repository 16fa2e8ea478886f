// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_slots.h"

namespace draftscope::engine {
namespace {

void add_layer(const speculation::ModelShape& shape, std::int32_t index, LayerWeights& layer,
               std::vector<TensorSlot>& slots) {
  const auto prefix = "model.layers." + std::to_string(index) + '.';
  const auto add = [&](const char* name, TensorKind kind, TensorView& view, std::int64_t rows,
                       std::int64_t columns) {
    slots.push_back({prefix + name, kind, index, &view, rows, columns});
  };
  const std::int64_t model = shape.d_model;
  const std::int64_t query = shape.q_width();
  const std::int64_t key = shape.kv_width();
  const std::int64_t inner = shape.d_ff;
  add("input_layernorm.weight", TensorKind::attention_norm, layer.attention_norm, 1, model);
  add("self_attn.q_proj.weight", TensorKind::q, layer.q, query, model);
  add("self_attn.k_proj.weight", TensorKind::k, layer.k, key, model);
  add("self_attn.v_proj.weight", TensorKind::v, layer.v, key, model);
  if (shape.qkv_bias) {
    add("self_attn.q_proj.bias", TensorKind::q_bias, layer.q_bias, 1, query);
    add("self_attn.k_proj.bias", TensorKind::k_bias, layer.k_bias, 1, key);
    add("self_attn.v_proj.bias", TensorKind::v_bias, layer.v_bias, 1, key);
  }
  add("self_attn.o_proj.weight", TensorKind::o, layer.o, model, query);
  if (shape.output_bias) add("self_attn.o_proj.bias", TensorKind::o_bias, layer.o_bias, 1, model);
  add("post_attention_layernorm.weight", TensorKind::mlp_norm, layer.mlp_norm, 1, model);
  add("mlp.gate_proj.weight", TensorKind::gate, layer.gate, inner, model);
  add("mlp.up_proj.weight", TensorKind::up, layer.up, inner, model);
  add("mlp.down_proj.weight", TensorKind::down, layer.down, model, inner);
  if (shape.mlp_bias) {
    add("mlp.gate_proj.bias", TensorKind::gate_bias, layer.gate_bias, 1, inner);
    add("mlp.up_proj.bias", TensorKind::up_bias, layer.up_bias, 1, inner);
    add("mlp.down_proj.bias", TensorKind::down_bias, layer.down_bias, 1, model);
  }
}

}  // namespace

bool TensorSlot::is_norm() const {
  return kind == TensorKind::attention_norm || kind == TensorKind::mlp_norm || kind == TensorKind::final_norm;
}

bool TensorSlot::is_vector() const {
  return is_norm() || (kind >= TensorKind::q_bias && kind <= TensorKind::down_bias);
}

std::vector<TensorSlot> tensor_slots(const speculation::ModelShape& shape, Weights& weights) {
  std::vector<TensorSlot> slots;
  weights.layers.resize(static_cast<std::size_t>(shape.n_layers));
  const std::int64_t vocab = shape.vocab;
  slots.push_back(
      {"model.embed_tokens.weight", TensorKind::embedding, -1, &weights.embedding, vocab, shape.d_model});
  for (std::int32_t index = 0; index < shape.n_layers; ++index)
    add_layer(shape, index, weights.layers[static_cast<std::size_t>(index)], slots);
  slots.push_back({"model.norm.weight", TensorKind::final_norm, -1, &weights.final_norm, 1, shape.d_model});
  if (!shape.tied_embeddings)
    slots.push_back({"lm_head.weight", TensorKind::head, -1, &weights.head, vocab, shape.d_model});
  return slots;
}

std::vector<NamedTensor> named_tensors(const speculation::ModelShape& shape, const Weights& weights) {
  Weights copy = weights;  // views only; the slots want something they could write
  std::vector<NamedTensor> named;
  for (const auto& slot : tensor_slots(shape, copy)) named.push_back({slot.name, *slot.view});
  return named;
}

}  // namespace draftscope::engine
