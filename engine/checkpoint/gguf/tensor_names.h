// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names of tensors in GGUF files.

#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/tensor_slots.h"

namespace draftscope::engine::gguf {

/// Tensor with a divisor of the rotary frequency of each pair.
inline constexpr std::string_view frequency_divisors_name = "rope_freqs.weight";
/// Tensors with rotary factors for contexts beyond and within the length of a model's first training.
inline constexpr std::string_view long_factors_name = "rope_factors_long.weight";
inline constexpr std::string_view short_factors_name = "rope_factors_short.weight";

/// Name of the tensor that contains the slot: "blk.3.attn_q.weight", or "blk.3.attn_qkv.weight" if it is
/// fused.
[[nodiscard]] std::string tensor_name(const TensorSlot& slot);

/// Key of an activation's numbers (TensorSlot::is_number()), one for all layers or a list of one for each.
[[nodiscard]] std::string_view number_key(TensorKind kind);

/// Number of the layer that a tensor belongs to: 3 of "blk.3.attn_q.weight"; −1 if it belongs to none.
[[nodiscard]] std::int32_t layer_of(std::string_view name);

/// Whether it is a tensor of old exports that is not needed: frequencies that the metadata gives.
[[nodiscard]] bool is_redundant(std::string_view name);

/// Whether the tensor's rows belong to queries or keys, which rotate.
[[nodiscard]] bool rotates(TensorKind kind);

}  // namespace draftscope::engine::gguf
