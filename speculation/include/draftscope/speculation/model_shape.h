// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The numbers and traits of a decoder, for the engine that runs it and for the simulator that prices it. They
// come from a config.json (model_config.h), the table of published models (published_models.h), the metadata
// of a trace (model_shape_json.h), or are given directly. All functions are thread-safe.

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
  double low_frequency_factor = 1.0;        ///< Used by llama3.
  double high_frequency_factor = 4.0;       ///< Used by llama3.
  std::int32_t original_max_positions = 0;  ///< Used by llama3, yarn, dynamic and longrope.
  double beta_fast = 32.0;                  ///< Used by yarn.
  double beta_slow = 1.0;                   ///< Used by yarn.
  double attention_factor = 0.0;            ///< Scale of cos and sin (yarn, longrope); 0 = derived.
  double mscale = 0.0;                      ///< Used by yarn.
  double mscale_all_dim = 0.0;              ///< Used by yarn.
  bool truncate = true;                     ///< Whether yarn rounds the correction range to whole dimensions.
  /// Divisors of the frequencies for `standard`, one per pair; empty = none. GGUF files store the result of
  /// llama3's formula in this way.
  std::vector<float> divisors;
  /// Divisors of each pair's frequency for `longrope`: for contexts up to original_max_positions, and for
  /// longer ones.
  std::vector<double> short_factors, long_factors;
  /// Base of the layers with a sliding window, whose frequencies are not scaled; 0 = theta for all layers.
  double local_theta = 0.0;
  /// Weight β of Llama 4's scale of queries, 1 + β · log(1 + ⌊position / original_max_positions⌋); 0 = none.
  double query_beta = 0.0;
  /// Rotated dimensions per head, from its first on; 0 = all of them.
  std::int32_t rotated_dimensions = 0;

  friend bool operator==(const RopeScaling&, const RopeScaling&) = default;
};

/// The MLP's activation: x·σ(x), GELU in its tanh approximation, max(x, 0)², or xIELU, which has learnt
/// numbers in each layer (Huang and Schlag 2024, arXiv:2411.13010).
enum class Activation : std::uint8_t { silu, gelu_tanh, relu_squared, xielu };

/// Factor of a norm: its weight, or one plus its weight.
enum class NormWeight : std::uint8_t { plain, plus_one };

/// Where a layer normalises: the input of each sublayer, its output before it joins the residual stream, or
/// both.
enum class NormPlace : std::uint8_t { before, after, around };

/// Norm of queries and keys: of each head separately or of a row's whole projection, before they are rotated;
/// or of each head after that.
enum class QkNorm : std::uint8_t { none, heads, whole, rotated_heads };

/// Traits in which an architecture departs from Llama's. The defaults are Llama's.
struct ArchitectureTraits {
  Activation activation = Activation::silu;
  /// Whether the activated output of a gate matrix multiplies the MLP's up projection; otherwise the up
  /// projection itself is activated, and there is no gate.
  bool gated_mlp = true;
  NormWeight norm_weight = NormWeight::plain;
  NormPlace norm_place = NormPlace::before;
  QkNorm qk_norm = QkNorm::none;
  /// Interval of the layers that attend to the whole context, while the others attend to the sliding window;
  /// 0 = all layers alike.
  std::int32_t full_attention_interval = 0;
  /// Interval of the layers that do not rotate queries and keys; 0 = all layers rotate.
  std::int32_t no_rope_interval = 0;
  double logit_cap = 0.0;            ///< Cap of the logits: they become cap · tanh(logit / cap); 0 = no cap.
  double attention_logit_cap = 0.0;  ///< Cap of the attention scores: cap · tanh(score / cap); 0 = no cap.
  double attention_multiplier = 0.0;  ///< Scale of the attention scores; 0 = 1/√head_dim.
  double embedding_multiplier = 1.0;  ///< Scale of the embeddings; 0 = √d_model.
  double residual_multiplier = 1.0;   ///< Scale of a sublayer's output where it joins the residual stream.
  double logit_multiplier = 1.0;      ///< Scale of the logits.
  bool fused_qkv = false;             ///< Whether queries, keys and values share one projection tensor.
  bool fused_gate_up = false;         ///< Whether the MLP's gate and up projections share one tensor.
  /// Whether tensors name the norms attention_layernorm and feedforward_layernorm.
  bool norms_named_by_sublayer = false;

  friend bool operator==(const ArchitectureTraits&, const ArchitectureTraits&) = default;
};

struct ModelShape {
  std::string name;          ///< Folder name, or the name of a synthetic or published model.
  std::string architecture;  ///< Name in config.json: "LlamaForCausalLM"; empty = not known.
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
  /// Bias on the attention's output projection (Llama's attention_bias sets both).
  bool output_bias = false;
  bool mlp_bias = false;
  std::int32_t sliding_window = 0;  ///< Window of the layers that have one (window_of()); 0 = full attention.
  std::int32_t bos_token = -1;
  std::vector<std::int32_t> eos_tokens;  ///< Any of these ends a request.
  ArchitectureTraits traits;

  friend bool operator==(const ModelShape&, const ModelShape&) = default;

  [[nodiscard]] std::int32_t q_width() const { return n_heads * head_dim; }
  [[nodiscard]] std::int32_t kv_width() const { return n_kv_heads * head_dim; }
  [[nodiscard]] std::int32_t rotary_width() const {
    return rope.rotated_dimensions > 0 ? rope.rotated_dimensions : head_dim;
  }
  /// Matrices of an MLP, all of d_model · d_ff weights, and how many of them are multiplied with its input.
  [[nodiscard]] std::int32_t mlp_matrices() const { return traits.gated_mlp ? 3 : 2; }
  [[nodiscard]] std::int32_t mlp_input_matrices() const { return mlp_matrices() - 1; }
  /// Positions that a layer attends to, its own included; 0 = all before.
  [[nodiscard]] std::int32_t window_of(std::int32_t layer) const {
    const std::int32_t interval = traits.full_attention_interval;
    return interval > 0 && (layer + 1) % interval == 0 ? 0 : sliding_window;
  }
  [[nodiscard]] bool rotates(std::int32_t layer) const {
    return traits.no_rope_interval == 0 || (layer + 1) % traits.no_rope_interval != 0;
  }
};

/// The seven numbers that determine the bytes of weights and cache, under the names used in traces,
/// calibrations, policies and predictions.
inline constexpr std::array<std::pair<const char*, std::int32_t ModelShape::*>, 7> shape_sizes{
    {{"n_layers", &ModelShape::n_layers},
     {"d_model", &ModelShape::d_model},
     {"n_heads", &ModelShape::n_heads},
     {"n_kv_heads", &ModelShape::n_kv_heads},
     {"head_dim", &ModelShape::head_dim},
     {"d_ff", &ModelShape::d_ff},
     {"vocab", &ModelShape::vocab}}};

/// Whether both have the same shape_sizes, and a gate in their MLPs or none.
[[nodiscard]] bool same_sizes(const ModelShape& a, const ModelShape& b);

/// Checks shape_sizes. Errors: a size that no model has, query heads that are no multiple of the K/V heads.
/// `source` names the shape in errors. A shape that passes has widths far below 2³¹.
[[nodiscard]] Result<void> check_sizes(const ModelShape& shape, std::string_view source);

/// Checks a shape of a model that is to run: check_sizes(), its positions, and heads that rotary embeddings
/// can rotate. `source` names the shape in errors.
[[nodiscard]] Result<void> check_shape(const ModelShape& shape, std::string_view source);

/// Weight bytes of the head relative to a layer's, without norms and biases.
[[nodiscard]] double head_in_layers(const ModelShape& shape);

}  // namespace draftscope::speculation
