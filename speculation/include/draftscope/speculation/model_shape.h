// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The numbers and traits of a decoder, for the engine that runs it and for the simulator that prices it. They
// come from a config.json (model_config.h), the table of published models (published_models.h), the meta of a
// trace (model_shape_json.h), or are written out. All functions are thread-safe.

#include <draftscope/base/result.h>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace draftscope::speculation {

/// How rotary frequencies are changed for contexts longer than the model was trained on. The formulas are
/// those of Hugging Face transformers (modeling_rope_utils.py) and the papers named there.
enum class RopeKind : std::uint8_t { standard, linear, dynamic, llama3, yarn, longrope };

struct RopeScaling {
  RopeKind kind = RopeKind::standard;
  double theta = 10000.0;
  double factor = 1.0;
  double low_frequency_factor = 1.0;        ///< llama3
  double high_frequency_factor = 4.0;       ///< llama3
  std::int32_t original_max_positions = 0;  ///< llama3, yarn, dynamic, longrope
  double beta_fast = 32.0;                  ///< yarn
  double beta_slow = 1.0;                   ///< yarn
  double attention_factor = 0.0;            ///< yarn, longrope: scales cos and sin; 0 = derived
  double mscale = 0.0;                      ///< yarn
  double mscale_all_dim = 0.0;              ///< yarn
  bool truncate = true;                     ///< yarn: round the correction range to whole dimensions
  /// standard: divisors of the frequencies, one for each pair; empty = none. GGUF files hold the result of
  /// llama3's formula in this way.
  std::vector<float> divisors;
  /// longrope: divisors of each pair's frequency, for contexts up to original_max_positions and longer ones.
  std::vector<double> short_factors, long_factors;
  /// Base of the layers that attend to the sliding window, whose frequencies are not scaled; 0 = theta, as
  /// all.
  double local_theta = 0.0;
  /// Dimensions of a head that are rotated, from its first on; 0 = all of them.
  std::int32_t rotated_dimensions = 0;

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

/// The MLP's activation: x·σ(x), or GELU in its tanh approximation.
enum class Activation : std::uint8_t { silu, gelu_tanh };

/// Factor of a norm: its weight, or one plus its weight.
enum class NormWeight : std::uint8_t { plain, plus_one };

/// Where a layer normalises: the input of each sublayer, its output before it joins the residual stream, or
/// both.
enum class NormPlace : std::uint8_t { before, after, around };

/// Norm of queries and keys before they are rotated: of each head by itself, or of a row's whole projection.
enum class QkNorm : std::uint8_t { none, heads, whole };

/// In what an architecture departs from Llama's. The defaults are Llama's.
struct ArchitectureTraits {
  Activation activation = Activation::silu;
  NormWeight norm_weight = NormWeight::plain;
  NormPlace norm_place = NormPlace::before;
  QkNorm qk_norm = QkNorm::none;
  /// Every so many-th layer attends to the whole context, the others to the sliding window; 0 = all layers
  /// alike.
  std::int32_t full_attention_interval = 0;
  /// Every so many-th layer does not rotate queries and keys; 0 = all do.
  std::int32_t no_rope_interval = 0;
  double logit_cap = 0.0;             ///< logits become cap · tanh(logit / cap); 0 = no cap
  double attention_logit_cap = 0.0;   ///< the same for attention scores
  double attention_multiplier = 0.0;  ///< scales attention scores; 0 = 1/√head_dim
  double embedding_multiplier = 1.0;  ///< scales the embeddings; 0 = by √d_model
  double residual_multiplier = 1.0;   ///< scales a sublayer's output where it joins the residual stream
  double logit_multiplier = 1.0;      ///< scales the logits
  bool fused_qkv = false;             ///< one tensor for the projections of queries, keys and values
  bool fused_gate_up = false;         ///< one tensor for the MLP's gate and up projections

  friend bool operator==(const ArchitectureTraits&, const ArchitectureTraits&) = default;
};

struct ModelShape {
  std::string name;          ///< folder name, or the synthetic or published model's name
  std::string architecture;  ///< as config.json names it: "LlamaForCausalLM"; "" = not known
  std::int32_t n_layers = 0;
  std::int32_t d_model = 0;
  std::int32_t n_heads = 0;
  std::int32_t n_kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t d_ff = 0;
  std::int32_t vocab = 0;
  std::int32_t max_positions = 0;
  double rms_epsilon = 1e-5;
  RopeScaling rope;
  bool tied_embeddings = false;
  bool qkv_bias = false;
  bool output_bias = false;  ///< bias on the attention's output projection (Llama's attention_bias sets both)
  bool mlp_bias = false;
  std::int32_t sliding_window = 0;  ///< of the layers that have one (window_of()); 0 = full attention
  std::int32_t bos_token = -1;
  std::vector<std::int32_t> eos_tokens;  ///< any of these ends a request
  ArchitectureTraits traits;

  friend bool operator==(const ModelShape&, const ModelShape&) = default;

  [[nodiscard]] std::int32_t q_width() const { return n_heads * head_dim; }
  [[nodiscard]] std::int32_t kv_width() const { return n_kv_heads * head_dim; }
  [[nodiscard]] std::int32_t rotary_width() const {
    return rope.rotated_dimensions > 0 ? rope.rotated_dimensions : head_dim;
  }
  /// Positions that a layer attends to, itself included; 0 = all before.
  [[nodiscard]] std::int32_t window_of(std::int32_t layer) const {
    const std::int32_t interval = traits.full_attention_interval;
    return interval > 0 && (layer + 1) % interval == 0 ? 0 : sliding_window;
  }
  [[nodiscard]] bool rotates(std::int32_t layer) const {
    return traits.no_rope_interval == 0 || (layer + 1) % traits.no_rope_interval != 0;
  }
};

/// The seven numbers that the bytes of weights and cache follow from, under the names that traces,
/// calibrations, policies and predictions give them.
inline constexpr std::array<std::pair<const char*, std::int32_t ModelShape::*>, 7> shape_sizes{
    {{"n_layers", &ModelShape::n_layers},
     {"d_model", &ModelShape::d_model},
     {"n_heads", &ModelShape::n_heads},
     {"n_kv_heads", &ModelShape::n_kv_heads},
     {"head_dim", &ModelShape::head_dim},
     {"d_ff", &ModelShape::d_ff},
     {"vocab", &ModelShape::vocab}}};

/// Whether shape_sizes are the same.
[[nodiscard]] bool same_sizes(const ModelShape& a, const ModelShape& b);

/// Errors: one of shape_sizes that no model has, heads that K/V heads do not divide. `source` names the shape
/// in errors. A shape that passes has widths far below 2³¹.
[[nodiscard]] Result<void> check_sizes(const ModelShape& shape, std::string_view source);

/// The same for a model that is to run: its positions too, and heads that rotary embeddings can turn.
[[nodiscard]] Result<void> check_shape(const ModelShape& shape, std::string_view source);

/// Weight bytes of the head in units of a layer's, norms and biases left out.
[[nodiscard]] double head_in_layers(const ModelShape& shape);

}  // namespace draftscope::speculation
