// SPDX-License-Identifier: GPL-3.0-or-later
#include "tensor_names.h"

#include <draftscope/base/number.h>
#include <fmt/format.h>
#include <array>

namespace draftscope::engine::gguf {
namespace {

/// The names in the order of TensorKind, without "blk.N." in a layer; the last four are keys of numbers.
constexpr std::array<std::string_view, 30> own_names{"attn_norm.weight",     "attn_q.weight",
                                                     "attn_k.weight",        "attn_v.weight",
                                                     "attn_output.weight",   "ffn_norm.weight",
                                                     "ffn_gate.weight",      "ffn_up.weight",
                                                     "ffn_down.weight",      "attn_q.bias",
                                                     "attn_k.bias",          "attn_v.bias",
                                                     "attn_output.bias",     "ffn_gate.bias",
                                                     "ffn_up.bias",          "ffn_down.bias",
                                                     "token_embd.weight",    "output_norm.weight",
                                                     "output.weight",        "attn_q_norm.weight",
                                                     "attn_k_norm.weight",   "post_attention_norm.weight",
                                                     "post_ffw_norm.weight", "nextn.enorm.weight",
                                                     "nextn.hnorm.weight",   "nextn.eh_proj.weight",
                                                     "xielu.alpha_p",        "xielu.alpha_n",
                                                     "xielu.beta",           "xielu.eps"};
static_assert(own_names.size() == static_cast<std::size_t>(TensorKind::epsilon) + 1);

std::string_view own_name(TensorKind kind) {
  return own_names.at(static_cast<std::size_t>(kind));
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
