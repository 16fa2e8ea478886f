// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Forms in which checkpoints store a next-token layer: the same layer under other names, with the halves of
// its projection in another order. A form is one row of a table.
//
// Sources: vLLM's mimo_mtp.py, deepseek_mtp.py and qwen3_next_mtp.py; llama.cpp for "nextn".

#include <draftscope/engine/checkpoint.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor_slots.h"

namespace draftscope::engine {

/// Names without ".weight"; "{}" stands for the number of the decoder's layers.
struct NextTokenForm {
  std::string_view layer;  ///< Prefix of the tensors that a layer of the decoder has, too.
  std::string_view token_norm;
  std::string_view state_norm;
  std::string_view projection;
  std::string_view final_norm;
  std::string_view embedding;       ///< The layer's own, where the files have it; empty = always the model's.
  std::string_view head;            ///< As `embedding`.
  bool is_embedding_first = false;  ///< Whether the projection's first columns are the embedding's.
};

/// The layer as it lies in some files.
struct FoundNextToken {
  const NextTokenForm* form = nullptr;
  std::int32_t target_layers = 0;
  bool has_own_embedding = false;
  bool has_own_head = false;

  /// The tensors of the layer by their names in the files. `shape` and `weights` are those of the layer.
  [[nodiscard]] std::vector<TensorSlot> slots(const speculation::ModelShape& shape, Weights& weights) const;
  /// Takes the layer's tensors out of names.
  void take_from(std::vector<std::string>& names) const;
  /// A tensor of a folder that keeps `mtp` from drafting with the layer, in words: one that the layer lacks,
  /// or has beyond those of the decoder's layers (experts, latent attention). Empty if there is none.
  /// `names` are those that the decoder does not use.
  [[nodiscard]] std::string obstacle(const std::vector<std::string>& names,
                                     const speculation::ModelShape& target) const;
};

/// Finds the first form whose projection a folder has. `has` tells whether a tensor of this name, with
/// whatever ending, exists.
[[nodiscard]] std::optional<FoundNextToken> find_next_token(
    const std::function<bool(const std::string&)>& has, std::int32_t target_layers);

/// Puts the columns of a state first in a projection whose first columns are an embedding's, as fp32 in
/// `memory`, which must outlive the view.
void put_state_first(TensorView& projection, std::vector<float>& memory);

}  // namespace draftscope::engine
