// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tensors a shape asks for, in the one order that loading, filling, checking and hashing share.

#include <draftscope/engine/checkpoint.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// Kinds of tensors. The numbers are part of the synthetic weights' recipe (synthetic_fill.h): add new kinds
/// at the end.
enum class TensorKind : std::uint8_t {
  attention_norm = 0,
  q = 1,
  k = 2,
  v = 3,
  o = 4,
  mlp_norm = 5,
  gate = 6,
  up = 7,
  down = 8,
  q_bias = 9,
  k_bias = 10,
  v_bias = 11,
  o_bias = 12,
  gate_bias = 13,
  up_bias = 14,
  down_bias = 15,
  embedding = 16,
  final_norm = 17,
  head = 18,
  q_norm = 19,
  k_norm = 20,
  attention_output_norm = 21,
  mlp_output_norm = 22,
  token_norm = 23,
  state_norm = 24,
  projection = 25,
  alpha_p = 26,
  alpha_n = 27,
  beta = 28,
  epsilon = 29,
};

struct TensorSlot {
  std::string name;  ///< Hugging Face's name: "model.layers.3.self_attn.q_proj.weight"
  TensorKind kind = TensorKind::embedding;
  std::int32_t layer = -1;     ///< -1 outside the layers
  TensorView* view = nullptr;  ///< view in the Weights for which the slots were made
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t first_row =
      0;  ///< first row within the named tensor, which may contain several slots (fused weights)
  std::int64_t stored_rows = 0;  ///< rows of the named tensor; 0 = as many as `rows`

  [[nodiscard]] bool is_fused() const { return stored_rows > 0; }
  [[nodiscard]] std::int64_t rows_in_file() const { return is_fused() ? stored_rows : rows; }
  [[nodiscard]] bool is_vector() const;  ///< true for norms, biases and numbers: rank 1 in the file
  [[nodiscard]] bool is_number() const;  ///< true for xIELU's numbers
  [[nodiscard]] bool is_norm() const;
};

/// Every tensor that has storage: embedding, then layer by layer, final norm, and the head unless tied. With
/// `weights.join` they are those of a next-token layer. Resizes weights.layers; the slots' views point into
/// `weights`, which must not move.
[[nodiscard]] std::vector<TensorSlot> tensor_slots(const speculation::ModelShape& shape, Weights& weights);

/// Name of a tensor or module in a file that contains only the decoder, given its name in one that may be
/// nested in a larger model.
[[nodiscard]] std::string name_in_decoder(std::string_view name, bool nested);

/// A view of one of these tensors, with its name.
struct NamedTensor {
  std::string name;
  TensorView view;
};
[[nodiscard]] std::vector<NamedTensor> named_tensors(const speculation::ModelShape& shape,
                                                     const Weights& weights);

}  // namespace draftscope::engine
