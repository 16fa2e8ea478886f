// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Kinds of sublayers of a model whose layers differ: experts, recurrences, windows, next-token layers. They
// are known from its config.json or a GGUF file's metadata, for prices only: no backend runs such models.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

using speculation::ModelShape;

/// Sublayers that mix positions, all alike: attention, a recurrence or a convolution.
struct MixerKind {
  std::int32_t count = 0;
  double input_columns = 0.0;   ///< Outputs of products of the input: queries, gates, inputs of a state.
  double kv_columns = 0.0;      ///< Outputs that project keys and values.
  double output_depth = 0.0;    ///< Depth of the product that ends the sublayer.
  double kv_values = 0.0;       ///< Cached keys and values of a position; 0 = none.
  std::int32_t n_kv_heads = 1;  ///< GPUs share keys and values up to this number.
  std::int32_t window = 0;      ///< Positions that it attends to, its own included; 0 = all before.
  double state_bytes = 0.0;     ///< State of a request, read once a pass and written for each row.
  double other_weights = 0.0;   ///< Weights beside the products of the residual stream, at 16 bits.

  friend bool operator==(const MixerKind&, const MixerKind&) = default;
};

/// Feed-forward sublayers, all alike: dense, of experts, or both side by side.
struct MlpKind {
  std::int32_t count = 0;
  double dense_width = 0.0;  ///< Inner width that all rows use: of a dense MLP or of shared experts.
  std::int32_t n_experts = 0;
  std::int32_t n_used = 0;    ///< Experts that a row uses.
  double expert_width = 0.0;  ///< Inner width of an expert.
  std::int32_t matrices = 3;  ///< 3 with a gate, 2 without.

  friend bool operator==(const MlpKind&, const MlpKind&) = default;
};

/// A layer that drafts from the last hidden state and the next token's embedding, joined by a product of
/// 2 d² weights; the head is the model's.
struct NextTokenLayer {
  MixerKind mixer;
  MlpKind mlp;

  friend bool operator==(const NextTokenLayer&, const NextTokenLayer&) = default;
};

struct LayerPlan {
  std::vector<MixerKind> mixers;
  std::vector<MlpKind> mlps;
  std::optional<NextTokenLayer> next_token;  ///< Absent where the file names none.
  bool only_experts_are_narrow = false;      ///< Whether all weights but the experts' keep 16 bits.

  friend bool operator==(const LayerPlan&, const LayerPlan&) = default;

  [[nodiscard]] bool has_experts() const;
  [[nodiscard]] bool has_states() const;
};

/// Expected number of distinct experts that `rows` rows read, if each chooses `n_used` of `n_experts`
/// independently: E · (1 − (1 − k/E)^rows).
[[nodiscard]] double distinct_experts(std::int32_t n_experts, std::int32_t n_used, double rows);

/// "48 layers of 8 of 128 experts, 36 with a state, 12 with a window of 1024 rows".
[[nodiscard]] std::string plan_text(const LayerPlan& plan);

/// A model's sizes, which name the widths that a row uses, and its plan where layers differ or a next-token
/// layer follows them.
struct PlannedModel {
  ModelShape shape;
  std::optional<LayerPlan> plan;
};

/// Parses a config.json. Errors name the field: latent attention, layers whose keys or values other layers
/// share, an unknown model_type or kind of layer, a size that is missing or out of its range.
[[nodiscard]] Result<PlannedModel> parse_planned_model(std::string_view text, std::string_view file);

/// Parses the sizes of a GGUF file (engine/include/draftscope/engine/gguf_sizes.h). Errors as above, by the
/// names of the format's keys.
[[nodiscard]] Result<PlannedModel> parse_gguf_model(std::string_view sizes, std::string_view file);

/// Model by its published name, or from a config.json if the text ends in ".json". Errors as above, or a
/// name that the table lacks.
[[nodiscard]] Result<PlannedModel> planned_model_of(const std::string& name_or_file);

}  // namespace draftscope::simulator
