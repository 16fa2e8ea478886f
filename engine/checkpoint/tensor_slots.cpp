// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_slots.h"

#include <fmt/format.h>

#include <utility>

namespace draftscope::engine {
namespace {

/// Adds the slots of one layer.
class LayerSlots {
 public:
  LayerSlots(const speculation::ModelShape& shape, std::string prefix, std::int32_t index,
             LayerWeights& layer, std::vector<TensorSlot>& slots)
      : shape_(shape), index_(index), layer_(layer), slots_(slots), prefix_(std::move(prefix)) {}

  void add_all() {
    const speculation::NormPlace place = shape_.traits.norm_place;
    const bool before = place != speculation::NormPlace::after;
    const bool after = place != speculation::NormPlace::before;
    const std::int64_t model = shape_.d_model;
    const bool is_named = shape_.traits.norms_named_by_sublayer;
    if (before)
      add(is_named ? "attention_layernorm.weight" : "input_layernorm.weight", TensorKind::attention_norm,
          layer_.attention_norm, 1, model);
    add_attention();
    if (after)
      add("post_attention_layernorm.weight", TensorKind::attention_output_norm, layer_.attention_output_norm,
          1, model);
    // Llama's name for the norm before the MLP is what other models call the norm after attention.
    if (before)
      add(is_named ? "feedforward_layernorm.weight"
          : after  ? "pre_feedforward_layernorm.weight"
                   : "post_attention_layernorm.weight",
          TensorKind::mlp_norm, layer_.mlp_norm, 1, model);
    add_mlp();
    if (after)
      add("post_feedforward_layernorm.weight", TensorKind::mlp_output_norm, layer_.mlp_output_norm, 1, model);
  }

 private:
  TensorSlot& add(const char* name, TensorKind kind, TensorView& view, std::int64_t rows,
                  std::int64_t columns) {
    slots_.push_back({prefix_ + name, kind, index_, &view, rows, columns});
    return slots_.back();
  }

  /// Adds a matrix of rows [first_row, first_row + rows) of a tensor that has `stored_rows`.
  void add_part(const char* name, TensorKind kind, TensorView& view, std::int64_t rows,
                std::int64_t first_row, std::int64_t stored_rows) {
    TensorSlot& slot = add(name, kind, view, rows, shape_.d_model);
    slot.first_row = first_row;
    slot.stored_rows = stored_rows;
  }

  void add_attention() {
    const std::int64_t model = shape_.d_model;
    const std::int64_t query = shape_.q_width();
    const std::int64_t key = shape_.kv_width();
    if (shape_.traits.fused_qkv) {
      constexpr auto name = "self_attn.qkv_proj.weight";
      add_part(name, TensorKind::q, layer_.q, query, 0, query + 2 * key);
      add_part(name, TensorKind::k, layer_.k, key, query, query + 2 * key);
      add_part(name, TensorKind::v, layer_.v, key, query + key, query + 2 * key);
    } else {
      add("self_attn.q_proj.weight", TensorKind::q, layer_.q, query, model);
      add("self_attn.k_proj.weight", TensorKind::k, layer_.k, key, model);
      add("self_attn.v_proj.weight", TensorKind::v, layer_.v, key, model);
    }
    if (shape_.qkv_bias) {
      add("self_attn.q_proj.bias", TensorKind::q_bias, layer_.q_bias, 1, query);
      add("self_attn.k_proj.bias", TensorKind::k_bias, layer_.k_bias, 1, key);
      add("self_attn.v_proj.bias", TensorKind::v_bias, layer_.v_bias, 1, key);
    }
    if (shape_.traits.qk_norm != speculation::QkNorm::none) {
      const bool whole = shape_.traits.qk_norm == speculation::QkNorm::whole;
      const bool rotated = shape_.traits.qk_norm == speculation::QkNorm::rotated_heads;
      add(rotated ? "self_attn.query_layernorm.weight" : "self_attn.q_norm.weight", TensorKind::q_norm,
          layer_.q_norm, 1, whole ? query : shape_.head_dim);
      add(rotated ? "self_attn.key_layernorm.weight" : "self_attn.k_norm.weight", TensorKind::k_norm,
          layer_.k_norm, 1, whole ? key : shape_.head_dim);
    }
    add("self_attn.o_proj.weight", TensorKind::o, layer_.o, model, query);
    if (shape_.output_bias) add("self_attn.o_proj.bias", TensorKind::o_bias, layer_.o_bias, 1, model);
  }

  void add_mlp() {
    const std::int64_t model = shape_.d_model;
    const std::int64_t inner = shape_.d_ff;
    const bool gated = shape_.traits.gated_mlp;
    if (shape_.traits.fused_gate_up) {
      constexpr auto name = "mlp.gate_up_proj.weight";
      add_part(name, TensorKind::gate, layer_.gate, inner, 0, 2 * inner);
      add_part(name, TensorKind::up, layer_.up, inner, inner, 2 * inner);
    } else {
      if (gated) add("mlp.gate_proj.weight", TensorKind::gate, layer_.gate, inner, model);
      add("mlp.up_proj.weight", TensorKind::up, layer_.up, inner, model);
    }
    add("mlp.down_proj.weight", TensorKind::down, layer_.down, model, inner);
    if (shape_.mlp_bias) {
      if (gated) add("mlp.gate_proj.bias", TensorKind::gate_bias, layer_.gate_bias, 1, inner);
      add("mlp.up_proj.bias", TensorKind::up_bias, layer_.up_bias, 1, inner);
      add("mlp.down_proj.bias", TensorKind::down_bias, layer_.down_bias, 1, model);
    }
    if (shape_.traits.activation == speculation::Activation::xielu) {
      add("mlp.act_fn.alpha_p", TensorKind::alpha_p, layer_.alpha_p, 1, 1);
      add("mlp.act_fn.alpha_n", TensorKind::alpha_n, layer_.alpha_n, 1, 1);
      add("mlp.act_fn.beta", TensorKind::beta, layer_.beta, 1, 1);
      add("mlp.act_fn.eps", TensorKind::epsilon, layer_.epsilon, 1, 1);
    }
  }

  const speculation::ModelShape& shape_;
  std::int32_t index_;
  LayerWeights& layer_;
  std::vector<TensorSlot>& slots_;
  std::string prefix_;
};

void add_join(JoinWeights& join, std::int64_t model, const std::string& prefix,
              std::vector<TensorSlot>& slots) {
  slots.push_back({prefix + "token_layernorm.weight", TensorKind::token_norm, 0, &join.token_norm, 1, model});
  slots.push_back(
      {prefix + "hidden_layernorm.weight", TensorKind::state_norm, 0, &join.state_norm, 1, model});
  slots.push_back(
      {prefix + "input_proj.weight", TensorKind::projection, 0, &join.projection, model, 2 * model});
}

}  // namespace

bool TensorSlot::is_norm() const {
  return kind == TensorKind::attention_norm || kind == TensorKind::mlp_norm ||
         kind == TensorKind::final_norm || (kind >= TensorKind::q_norm && kind <= TensorKind::state_norm);
}

bool TensorSlot::is_vector() const {
  return is_norm() || is_number() || (kind >= TensorKind::q_bias && kind <= TensorKind::down_bias);
}

bool TensorSlot::is_number() const {
  return kind >= TensorKind::alpha_p && kind <= TensorKind::epsilon;
}

std::vector<TensorSlot> tensor_slots(const speculation::ModelShape& shape, Weights& weights) {
  std::vector<TensorSlot> slots;
  weights.layers.resize(static_cast<std::size_t>(shape.n_layers));
  const std::int64_t vocab = shape.vocab;
  slots.push_back(
      {"model.embed_tokens.weight", TensorKind::embedding, -1, &weights.embedding, vocab, shape.d_model});
  const std::string next_token = "model.mtp_layers.0.";
  for (std::int32_t index = 0; index < shape.n_layers; ++index)
    LayerSlots(shape, weights.join ? next_token : fmt::format("model.layers.{}.", index), index,
               weights.layers[static_cast<std::size_t>(index)], slots)
        .add_all();
  if (weights.join) add_join(*weights.join, shape.d_model, next_token, slots);
  slots.push_back({weights.join ? next_token + "final_layernorm.weight" : "model.norm.weight",
                   TensorKind::final_norm, -1, &weights.final_norm, 1, shape.d_model});
  if (!shape.tied_embeddings)
    slots.push_back({"lm_head.weight", TensorKind::head, -1, &weights.head, vocab, shape.d_model});
  return slots;
}

std::string name_in_decoder(std::string_view name, bool nested) {
  constexpr std::string_view outer = "language_model.";
  constexpr std::string_view inner = "model.language_model.";
  if (nested && name.starts_with(outer)) return std::string(name.substr(outer.size()));
  if (nested && name.starts_with(inner)) return "model." + std::string(name.substr(inner.size()));
  return std::string(name);
}

std::vector<NamedTensor> named_tensors(const speculation::ModelShape& shape, const Weights& weights) {
  Weights copy = weights;  // Only views are needed, but the slots require writable ones.
  std::vector<NamedTensor> named;
  for (const auto& slot : tensor_slots(shape, copy)) named.push_back({slot.name, *slot.view});
  return named;
}

}  // namespace draftscope::engine
