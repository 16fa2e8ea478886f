// SPDX-License-Identifier: GPL-3.0-or-later
#include "model_particulars.h"

#include <draftscope/base/quote.h>
#include <draftscope/speculation/layer_interval.h>
#include <array>
#include <cmath>

#include "size_ranges.h"

namespace draftscope::speculation {
namespace {

constexpr Range<std::int32_t> count_range{0, 1 << 20};
constexpr Range<double> multiplier_range{1e-6, 1e6};

/// Window of every family of the table where config.json names none.
constexpr std::int32_t default_window = 4096;

/// Sets the window and the layers that have it: those that `layer_types` names, or all but every
/// `interval`-th, or all if `interval` is 0.
Result<void> read_layer_types(const JsonField& config, std::int32_t window, std::int32_t interval,
                              ModelShape& shape) {
  shape.sliding_window = window;
  shape.traits.full_attention_interval = window > 0 ? interval : 0;
  const JsonField field = config["layer_types"];
  if (field.is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> kinds, field.texts());
  if (kinds.empty()) return {};
  if (kinds.size() != static_cast<std::size_t>(shape.n_layers))
    return fail("{} has {} entries, expected num_hidden_layers = {}", field.name(), kinds.size(),
                shape.n_layers);
  std::vector<bool> full;
  for (const std::string& kind : kinds) {
    if (kind != "full_attention" && kind != "sliding_attention")
      return fail("{} holds {}, expected full_attention or sliding_attention", field.name(), quote(kind));
    full.push_back(kind == "full_attention");
  }
  const auto every = interval_of(full);
  if (every == 1) {
    shape.sliding_window = 0;
    shape.traits.full_attention_interval = 0;
    return {};
  }
  if (window == 0)
    return fail("{} holds 'sliding_attention', expected full_attention in every layer without sliding_window",
                field.name());
  if (!every)
    return fail("{} holds full_attention at no fixed interval, expected it in every n-th layer alone",
                field.name());
  shape.traits.full_attention_interval = *every;
  return {};
}

Result<void> read_mistral_window(const JsonField& config, ModelShape& shape) {
  // An absent key means Mistral v0.1's window, and null means none, as later versions write.
  const JsonField window = config["sliding_window"];
  if (window.is_null() && !window.is_missing()) return {};
  DRAFTSCOPE_TRY_ASSIGN(shape.sliding_window, window.integer_or(positions_range, default_window));
  return {};
}

Result<void> read_qwen_window(const JsonField& config, ModelShape& shape) {
  constexpr std::int32_t default_max_window_layers = 28;
  DRAFTSCOPE_TRY_ASSIGN(const bool enabled, config["use_sliding_window"].boolean_or(false));
  const JsonField field = config["sliding_window"];
  if (!enabled || (field.is_null() && !field.is_missing())) return read_layer_types(config, 0, 0, shape);
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t window, field.integer_or(positions_range, default_window));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t full_layers,
                        config["max_window_layers"].integer_or(count_range, default_max_window_layers));
  if (!config["layer_types"].is_null()) return read_layer_types(config, window, 0, shape);
  // Layers below max_window_layers have full attention.
  if (full_layers > 0 && full_layers < shape.n_layers)
    return fail(
        "{}: max_window_layers is {} of {} layers, expected 0 or all: full attention in only the first "
        "layers "
        "is not supported",
        config.file(), full_layers, shape.n_layers);
  shape.sliding_window = full_layers == 0 ? window : 0;
  return {};
}

/// Reads biases under the keys that most families share.
Result<void> read_biases(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(shape.qkv_bias, config["attention_bias"].boolean_or(false));
  shape.output_bias = shape.qkv_bias;
  return {};
}

Result<void> read_mlp_bias(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(shape.mlp_bias, config["mlp_bias"].boolean_or(false));
  return {};
}

/// Reads the layers that do not rotate: those with 0 in `no_rope_layers`, or every
/// `no_rope_layer_interval`-th.
Result<void> read_unrotated_layers(const JsonField& config, ModelShape& shape) {
  std::int32_t& interval = shape.traits.no_rope_interval;
  const JsonField interval_field = config["no_rope_layer_interval"];
  DRAFTSCOPE_TRY_ASSIGN(interval, interval_field.integer_or(Range<std::int32_t>{1, 1 << 20}, interval));
  const JsonField field = config["no_rope_layers"];
  if (field.is_null()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> entries, field.list());
  if (entries.size() < static_cast<std::size_t>(shape.n_layers))
    return fail("{} has {} entries, expected num_hidden_layers = {}", field.name(), entries.size(),
                shape.n_layers);
  std::vector<bool> unrotated;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.n_layers); ++i) {
    DRAFTSCOPE_TRY_ASSIGN(const auto rotated, entries[i].integer(Range<std::int32_t>{0, 1}));
    unrotated.push_back(rotated == 0);
  }
  const auto every = interval_of(unrotated);
  if (!every)
    return fail("{} names layers at no fixed interval, expected 0 for every n-th layer and 1 for the rest",
                field.name());
  if (!interval_field.is_null() && *every > 0 && *every != interval)
    return fail("{}: no_rope_layer_interval is {}, expected {} as no_rope_layers has it", config.file(),
                interval, *every);
  interval = *every;
  return {};
}

Result<void> read_smollm3(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY(read_biases(config, shape));
  DRAFTSCOPE_TRY(read_mlp_bias(config, shape));
  DRAFTSCOPE_TRY_ASSIGN(const bool has_window, config["use_sliding_window"].boolean_or(false));
  if (has_window)
    return config["use_sliding_window"].wrong("false: a window in layers without rotation is not supported");
  DRAFTSCOPE_TRY(read_layer_types(config, 0, 0, shape));
  return read_unrotated_layers(config, shape);
}

Result<void> read_granite(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY(read_biases(config, shape));
  DRAFTSCOPE_TRY(read_mlp_bias(config, shape));
  ArchitectureTraits& traits = shape.traits;
  for (const auto& [key, multiplier] : {std::pair{"embedding_multiplier", &traits.embedding_multiplier},
                                        std::pair{"attention_multiplier", &traits.attention_multiplier},
                                        std::pair{"residual_multiplier", &traits.residual_multiplier}}) {
    DRAFTSCOPE_TRY_ASSIGN(*multiplier, config[key].number_or(multiplier_range, *multiplier));
  }
  DRAFTSCOPE_TRY_ASSIGN(const double divisor, config["logits_scaling"].number_or(multiplier_range, 1.0));
  traits.logit_multiplier = 1.0 / divisor;
  return {};
}

Result<void> read_phi3(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(shape.sliding_window, config["sliding_window"].integer_or(positions_range, 0));
  return {};
}

/// Reads a cap; null switches it off.
Result<void> read_cap(const JsonField& field, double& cap) {
  if (field.is_missing()) return {};
  DRAFTSCOPE_TRY_ASSIGN(cap, field.number_or(multiplier_range, 0.0));
  return {};
}

/// Reads Gemma 2 and 3, which share all keys but the pattern of layers.
Result<void> read_gemma(const JsonField& config, const ModelFamily& family, ModelShape& shape) {
  DRAFTSCOPE_TRY(read_biases(config, shape));
  DRAFTSCOPE_TRY_ASSIGN(const bool looks_ahead, config["use_bidirectional_attention"].boolean_or(false));
  if (looks_ahead)
    return config["use_bidirectional_attention"].wrong("false: only a decoder that looks back is supported");
  ArchitectureTraits& traits = shape.traits;
  constexpr double default_scalar = 256.0;
  DRAFTSCOPE_TRY_ASSIGN(const double scalar,
                        config["query_pre_attn_scalar"].number_or(multiplier_range, default_scalar));
  traits.attention_multiplier = 1.0 / std::sqrt(scalar);
  DRAFTSCOPE_TRY(read_cap(config["final_logit_softcapping"], traits.logit_cap));
  DRAFTSCOPE_TRY(read_cap(config["attn_logit_softcapping"], traits.attention_logit_cap));
  const JsonField field = config["sliding_window"];
  std::int32_t window = 0;
  if (field.is_missing() || !field.is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(window, field.integer_or(positions_range, default_window));
  }
  const JsonField pattern = config["sliding_window_pattern"];
  DRAFTSCOPE_TRY_ASSIGN(const auto interval, pattern.integer_or(Range<std::int32_t>{1, 1 << 20},
                                                                family.traits.full_attention_interval));
  DRAFTSCOPE_TRY(read_layer_types(config, window, interval, shape));
  const std::int32_t found = traits.full_attention_interval;
  if (!pattern.is_null() && found > 0 && found != interval)
    return fail("{}: sliding_window_pattern is {}, expected {} as layer_types has it", config.file(),
                interval, found);
  return {};
}

/// Reads the window, which layer_types or every `interval`-th layer limits.
Result<void> read_window(const JsonField& config, std::int32_t interval, ModelShape& shape) {
  const JsonField field = config["sliding_window"];
  if (field.is_null() && !field.is_missing()) return read_layer_types(config, 0, 0, shape);
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t window, field.integer_or(positions_range, default_window));
  return read_layer_types(config, window, interval, shape);
}

/// Reads EXAONE 4. Layers without a window do not rotate, unless no layer has one.
Result<void> read_exaone4(const JsonField& config, const ModelFamily& family, ModelShape& shape) {
  const JsonField pattern = config["sliding_window_pattern"];
  std::int32_t interval = family.traits.full_attention_interval;
  if (pattern.value().is_string()) {
    const auto text = pattern.value().get<std::string>();
    interval = static_cast<std::int32_t>(text.size());
    if (text.empty() || text.find('G') + 1 != text.size() ||
        text.find_first_not_of("LG") != std::string::npos)
      return pattern.wrong("a number, or letters L before one G");
  } else {
    DRAFTSCOPE_TRY_ASSIGN(interval, pattern.integer_or(Range<std::int32_t>{1, 1 << 20}, interval));
  }
  DRAFTSCOPE_TRY(read_window(config, interval, shape));
  const JsonField window = config["sliding_window"];
  const bool has_window = window.is_missing() || !window.is_null();
  shape.traits.no_rope_interval = !has_window                 ? 0
                                  : shape.sliding_window == 0 ? 1
                                                              : shape.traits.full_attention_interval;
  return {};
}

Result<void> read_seed_oss(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(shape.qkv_bias, config["attention_bias"].boolean_or(true));
  DRAFTSCOPE_TRY_ASSIGN(shape.output_bias, config["attention_out_bias"].boolean_or(false));
  return read_mlp_bias(config, shape);
}

Result<void> read_hunyuan(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const bool has_norms, config["use_qk_norm"].boolean_or(true));
  if (!has_norms)
    return config["use_qk_norm"].wrong("true: queries and keys without norms are not supported");
  return read_biases(config, shape);
}

Result<void> read_ministral3(const JsonField& config, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t window, config["sliding_window"].integer_or(positions_range, 0));
  return read_layer_types(config, window, 0, shape);
}

Result<void> read_activation(const JsonField& config, const ModelFamily& family) {
  constexpr std::array names{"silu", "gelu_pytorch_tanh", "relu2", "xielu"};  // in the order of Activation
  const std::string expected = names[static_cast<std::size_t>(family.traits.activation)];
  const bool is_gelu = family.traits.activation == Activation::gelu_tanh;
  const JsonField field = config[is_gelu ? "hidden_activation" : "hidden_act"];
  DRAFTSCOPE_TRY_ASSIGN(const std::string found, field.text_or(expected));
  if (found == "swish" && expected == "silu") return {};  // Another name of it.
  if (found != expected) return field.wrong(quote(expected));
  return {};
}

}  // namespace

Result<void> read_particulars(const JsonField& config, const ModelFamily& family, ModelShape& shape) {
  DRAFTSCOPE_TRY(read_activation(config, family));
  const std::string_view type = family.model_type;
  if (type == "mistral") return read_mistral_window(config, shape);
  if (type == "qwen2") {
    shape.qkv_bias = true;
    return read_qwen_window(config, shape);
  }
  if (type == "qwen3") {
    DRAFTSCOPE_TRY(read_biases(config, shape));
    return read_qwen_window(config, shape);
  }
  if (type == "smollm3") return read_smollm3(config, shape);
  if (type == "granite") return read_granite(config, shape);
  if (type == "olmo2" || type == "apertus") return read_biases(config, shape);
  if (type == "olmo3") {
    DRAFTSCOPE_TRY(read_biases(config, shape));
    return read_window(config, family.traits.full_attention_interval, shape);
  }
  if (type == "exaone4") return read_exaone4(config, family, shape);
  if (type == "seed_oss") return read_seed_oss(config, shape);
  if (type == "hunyuan_v1_dense") return read_hunyuan(config, shape);
  if (family.rope_key == "llama_4_scaling_beta") return read_ministral3(config, shape);
  if (type == "phi3") return read_phi3(config, shape);
  if (type.starts_with("gemma")) return read_gemma(config, family, shape);
  DRAFTSCOPE_TRY(read_biases(config, shape));
  return read_mlp_bias(config, shape);
}

}  // namespace draftscope::speculation
