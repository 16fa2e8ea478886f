// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_names.h"

#include <draftscope/base/number.h>
#include <fmt/format.h>

namespace draftscope::engine::gguf {
namespace {

/// The name, without "blk.N." in a layer, or the key of an activation's number. There is no default, so that
/// the compiler reports a new kind without a name.
std::string_view own_name(TensorKind kind) {
  switch (kind) {
    case TensorKind::embedding:
      return "token_embd.weight";
    case TensorKind::final_norm:
      return "output_norm.weight";
    case TensorKind::head:
      return "output.weight";
    case TensorKind::attention_norm:
      return "attn_norm.weight";
    case TensorKind::q:
      return "attn_q.weight";
    case TensorKind::k:
      return "attn_k.weight";
    case TensorKind::v:
      return "attn_v.weight";
    case TensorKind::o:
      return "attn_output.weight";
    case TensorKind::mlp_norm:
      return "ffn_norm.weight";
    case TensorKind::gate:
      return "ffn_gate.weight";
    case TensorKind::up:
      return "ffn_up.weight";
    case TensorKind::down:
      return "ffn_down.weight";
    case TensorKind::q_bias:
      return "attn_q.bias";
    case TensorKind::k_bias:
      return "attn_k.bias";
    case TensorKind::v_bias:
      return "attn_v.bias";
    case TensorKind::o_bias:
      return "attn_output.bias";
    case TensorKind::gate_bias:
      return "ffn_gate.bias";
    case TensorKind::up_bias:
      return "ffn_up.bias";
    case TensorKind::down_bias:
      return "ffn_down.bias";
    case TensorKind::q_norm:
      return "attn_q_norm.weight";
    case TensorKind::k_norm:
      return "attn_k_norm.weight";
    case TensorKind::attention_output_norm:
      return "post_attention_norm.weight";
    case TensorKind::mlp_output_norm:
      return "post_ffw_norm.weight";
    case TensorKind::token_norm:
      return "nextn.enorm.weight";
    case TensorKind::state_norm:
      return "nextn.hnorm.weight";
    case TensorKind::projection:
      return "nextn.eh_proj.weight";
    case TensorKind::alpha_p:
      return "xielu.alpha_p";
    case TensorKind::alpha_n:
      return "xielu.alpha_n";
    case TensorKind::beta:
      return "xielu.beta";
    case TensorKind::epsilon:
      return "xielu.eps";
  }
  return {};
}

/// The name of a tensor that contains several slots; gate and up, in this order, have the name of up.
std::string_view fused_name(TensorKind kind) {
  return kind == TensorKind::gate || kind == TensorKind::up ? "ffn_up.weight" : "attn_qkv.weight";
}

}  // namespace

std::string tensor_name(const TensorSlot& slot) {
  if (slot.layer < 0) return std::string(own_name(slot.kind));
  return fmt::format("blk.{}.{}", slot.layer, slot.is_fused() ? fused_name(slot.kind) : own_name(slot.kind));
}

std::string_view number_key(TensorKind kind) {
  return own_name(kind);
}

std::int32_t layer_of(std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  if (!name.starts_with(prefix)) return -1;
  const auto digits = name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size());
  return parse_number<std::int32_t>(digits).value_or(-1);
}

bool is_redundant(std::string_view name) {
  return name.starts_with("blk.") && name.ends_with(".attn_rot_embd.weight");
}

bool rotates(TensorKind kind) {
  return kind == TensorKind::q || kind == TensorKind::k || kind == TensorKind::q_bias ||
         kind == TensorKind::k_bias;
}

}  // namespace draftscope::engine::gguf
