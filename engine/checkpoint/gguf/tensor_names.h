// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names of tensors in GGUF files.

#include <string>
#include <string_view>

#include "checkpoint/tensor_slots.h"

namespace draftscope::engine::gguf {

/// Divisors of the rotary frequencies of each pair.
inline constexpr std::string_view frequency_divisors_name = "rope_freqs.weight";
/// Factors for contexts beyond the length that a model was first trained on, and within it.
inline constexpr std::string_view long_factors_name = "rope_factors_long.weight";
inline constexpr std::string_view short_factors_name = "rope_factors_short.weight";

/// Name of the tensor that holds the slot: "blk.3.attn_q.weight", "blk.3.attn_qkv.weight" where it is fused.
[[nodiscard]] std::string tensor_name(const TensorSlot& slot);

/// Tensors that old exports carry and nothing needs: frequencies that the metadata gives.
[[nodiscard]] bool is_redundant(std::string_view name);

/// Whether its rows are those of queries or keys, which rotate.
[[nodiscard]] bool rotates(TensorKind kind);

}  // namespace draftscope::engine::gguf
