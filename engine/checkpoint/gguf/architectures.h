// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Architectures of GGUF files, one table row per architecture.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_families.h>
#include <string>
#include <string_view>

#include "metadata.h"

namespace draftscope::engine::gguf {

struct Architecture {
  /// Value of general.architecture, and prefix of the architecture's keys.
  std::string_view name;
  const speculation::ModelFamily* family = nullptr;  ///< family of these layers, under Hugging Face's name
  /// Whether rows of q and k that rotate together lie side by side within a head. In Hugging Face's files
  /// they are half a head apart.
  bool paired_rows = false;
  bool qkv_bias = false;  ///< whether biases are required; otherwise they exist if the file has their tensors
  /// Text of the token that ends a turn. Files of the architecture have it, but no key names it.
  std::string_view turn_end;
  /// Whether the norm before the MLP has the name that others' norms after attention have.
  bool mlp_norm_is_post_attention = false;

  /// A key with the architecture's prefix: "llama.block_count".
  [[nodiscard]] std::string key(std::string_view after_name) const {
    return fmt::format("{}.{}", name, after_name);
  }
};

/// The row that general.architecture names. Errors: a name that is not in the table, or a family that no
/// backend computes.
[[nodiscard]] Result<Architecture> architecture_of(const Metadata& metadata);

/// Row of the file's q or k, with this head size, that corresponds to row `row` of Hugging Face's.
[[nodiscard]] constexpr std::int64_t paired_row(std::int64_t row, std::int64_t head_dim) {
  const std::int64_t half = head_dim / 2;
  const std::int64_t within = row % head_dim;
  return row - within + 2 * (within % half) + within / half;
}

}  // namespace draftscope::engine::gguf
