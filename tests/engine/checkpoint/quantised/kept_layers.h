// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks model folders whose layers may stay packed for the CUDA backend.

#include <draftscope/engine/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/element_bits.h"

namespace draftscope::engine {

/// The numbers of a tensor, whether it is packed or not.
inline std::vector<std::byte> numbers_of(const TensorView& tensor) {
  if (!tensor.is_plain()) return widened_rows(tensor, 0, tensor.rows);
  return {tensor.data, tensor.data + tensor.bytes()};
}

/// Visits the tensors of a model of one layer and 16 tokens: calls plain(name, shape) for the embedding and
/// the norms, matrix(module, outputs, inputs) for the head and the layer's matrices.
template <typename Plain, typename Matrix>
void visit_one_layer(std::uint64_t width, std::uint64_t inner, Plain plain, Matrix matrix) {
  plain("model.embed_tokens.weight", {16, width});
  matrix("lm_head", 16, width);
  plain("model.norm.weight", {width});
  const std::string layer = "model.layers.0.";
  plain(layer + "input_layernorm.weight", {width});
  plain(layer + "post_attention_layernorm.weight", {width});
  for (const char* const query : {"q_proj", "o_proj"}) matrix(layer + "self_attn." + query, width, width);
  for (const char* const key : {"k_proj", "v_proj"}) matrix(layer + "self_attn." + key, width / 2, width);
  for (const char* const wide : {"gate_proj", "up_proj"}) matrix(layer + "mlp." + wide, inner, width);
  matrix(layer + "mlp.down_proj", width, inner);
}

/// The config.json for visit_one_layer().
[[nodiscard]] nlohmann::json one_layer_config(std::uint64_t width, std::uint64_t inner,
                                              nlohmann::json quantisation);

/// Opens a folder, or throws with the error.
[[nodiscard]] Checkpoint opened(const std::filesystem::path& folder, BlockMatrices blocks);

/// Opens the folder both widened and as stored, and expects equal numbers. Expects all or none of the layers'
/// matrices to stay packed, with the head as `packs_head` says. Returns whether they stay packed.
[[nodiscard]] bool keeps_layers(const std::filesystem::path& folder, bool packs_head);

/// Expects that a view of some rows of a tensor has the numbers of these rows.
void expect_views_of_rows(const TensorView& tensor);

/// Expects that a CPU backend refuses the folder as stored.
void expect_none_for_the_cpu(const std::filesystem::path& folder);

}  // namespace draftscope::engine
