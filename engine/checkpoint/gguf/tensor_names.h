// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names of tensors in GGUF files.

#include <string>
#include <string_view>

#include "checkpoint/tensor_slots.h"

namespace draftscope::engine::gguf {

/// Divisors of the rotary frequencies of each pair.
inline constexpr std::string_view frequency_divisors_name = "rope_freqs.weight";

/// "blk.3.attn_q.weight".
[[nodiscard]] std::string tensor_name(const TensorSlot& slot);

/// Tensors that old exports carry and nothing needs: frequencies that the metadata gives.
[[nodiscard]] bool is_redundant(std::string_view name);

/// Whether its rows are those of queries or keys, which rotate.
[[nodiscard]] bool rotates(TensorKind kind);

}  // namespace draftscope::engine::gguf
