// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Architectures of GGUF files: one row each.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_families.h>
#include <string>
#include <string_view>

#include "metadata.h"

namespace draftscope::engine::gguf {

struct Architecture {
  std::string_view name;                             ///< in general.architecture, and before its keys
  const speculation::ModelFamily* family = nullptr;  ///< family of these layers, under Hugging Face's name
  /// Rows of q and k within a head: those that rotate together lie side by side, and not half a head apart as
  /// in Hugging Face's files.
  bool paired_rows = false;
  bool qkv_bias = false;  ///< always; others have one where the file holds its tensors
  /// Text of the token that ends a turn, which files of the architecture have and name under no key.
  std::string_view turn_end;

  /// A key of its own: "llama.block_count".
  [[nodiscard]] std::string key(std::string_view after_name) const {
    return fmt::format("{}.{}", name, after_name);
  }
};

/// The row that general.architecture names. Errors: none of the table, or a family that no backend computes.
[[nodiscard]] Result<Architecture> architecture_of(const Metadata& metadata);

/// Row of the file's q or k of a head size that is row `row` of Hugging Face's.
[[nodiscard]] constexpr std::int64_t paired_row(std::int64_t row, std::int64_t head_dim) {
  const std::int64_t half = head_dim / 2;
  const std::int64_t within = row % head_dim;
  return row - within + 2 * (within % half) + within / half;
}

}  // namespace draftscope::engine::gguf
