// SPDX-License-Identifier: GPL-3.0-or-later
#include "config.h"

#include <algorithm>
#include <array>

#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>

namespace draftscope::engine {
namespace {

/// What the three architectures differ in: Hugging Face's LlamaConfig, MistralConfig and Qwen2Config, and the
/// biases their modelling code has.
struct Family {
  std::string_view architecture;
  std::string_view model_type;
  std::int32_t kv_heads;  ///< 0 = as many as query heads
  std::int32_t max_positions;
  std::int32_t bos_token;  ///< -1 = none
  std::int32_t eos_token;  ///< -1 = none
};
constexpr std::array<Family, 3> families{{{"LlamaForCausalLM", "llama", 0, 2048, 1, 2},
                                          {"MistralForCausalLM", "mistral", 8, 131072, 1, 2},
                                          {"Qwen2ForCausalLM", "qwen2", 32, 32768, -1, -1}}};

// Several times the largest published model of these families, and small enough that products fit 64 bits.
constexpr Range<std::int32_t> layers_range{1, 1024};
constexpr Range<std::int32_t> width_range{1, 1 << 20};
constexpr Range<std::int32_t> heads_range{1, 1024};
constexpr Range<std::int32_t> head_dim_range{2, 1024};
constexpr Range<std::int32_t> vocab_range{1, 1 << 24};
constexpr Range<std::int32_t> positions_range{1, 1 << 30};
constexpr Range<double> epsilon_range{0.0, 0.1};

Result<Family> find_family(const ConfigFields& config) {
  constexpr auto expected = "LlamaForCausalLM, MistralForCausalLM or Qwen2ForCausalLM";
  DRAFTSCOPE_TRY_ASSIGN(const auto architectures, config.texts("architectures"));
  if (architectures.empty()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto model_type, config.text_or("model_type", ""));
    for (const auto& family : families)
      if (family.model_type == model_type) return family;
    return fail("{}: field architectures is absent and model_type is {}, expected {}", config.file(),
                quote(model_type), expected);
  }
  for (const auto& family : families)
    if (family.architecture == architectures.front()) return family;
  return fail("{}: field architectures names {}, expected {}", config.file(), quote(architectures.front()),
              expected);
}

/// The engine has one attention kind for all layers, so a model that mixes them is refused.
Result<void> read_layer_types(const ConfigFields& config, speculation::ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const auto kinds, config.texts("layer_types"));
  if (kinds.empty()) return {};
  if (kinds.size() != static_cast<std::size_t>(shape.n_layers))
    return fail("{}: field layer_types has {} entries, expected num_hidden_layers = {}", config.file(),
                kinds.size(), shape.n_layers);
  const std::string_view wanted = shape.sliding_window > 0 ? "sliding_attention" : "full_attention";
  for (const auto& kind : kinds)
    if (kind != wanted)
      return fail("{}: field layer_types holds {}, expected {} in every layer", config.file(), quote(kind),
                  wanted);
  return {};
}

Result<void> read_sliding_window(const ConfigFields& config, speculation::ModelShape& shape) {
  constexpr std::int32_t default_window = 4096;
  constexpr std::int32_t default_max_window_layers = 28;
  if (shape.architecture == "MistralForCausalLM") {
    // Absent means Mistral v0.1's window, null means none: later versions write null.
    if (config.has("sliding_window") && config.is_null_or_absent("sliding_window")) return {};
    DRAFTSCOPE_TRY_ASSIGN(shape.sliding_window,
                          config.integer_or("sliding_window", positions_range, default_window));
    return {};
  }
  if (shape.architecture != "Qwen2ForCausalLM") return {};
  DRAFTSCOPE_TRY_ASSIGN(const auto enabled, config.boolean_or("use_sliding_window", false));
  if (!enabled || (config.has("sliding_window") && config.is_null_or_absent("sliding_window")))
    return read_layer_types(config, shape);
  DRAFTSCOPE_TRY_ASSIGN(const auto window,
                        config.integer_or("sliding_window", positions_range, default_window));
  DRAFTSCOPE_TRY_ASSIGN(const auto full_layers,
                        config.integer_or("max_window_layers", {0, 1 << 20}, default_max_window_layers));
  // Layers below max_window_layers have full attention.
  if (full_layers > 0 && full_layers < shape.n_layers && config.is_null_or_absent("layer_types"))
    return fail(
        "{}: field max_window_layers is {} of {} layers, expected 0 or all: a sliding window in only some "
        "layers "
        "is not supported",
        config.file(), full_layers, shape.n_layers);
  DRAFTSCOPE_TRY_ASSIGN(const auto kinds, config.texts("layer_types"));
  const bool windowed = kinds.empty() ? full_layers == 0 : kinds.front() == "sliding_attention";
  shape.sliding_window = windowed ? window : 0;
  return read_layer_types(config, shape);
}

Result<void> read_dimensions(const ConfigFields& config, const Family& family,
                             speculation::ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, config.integer("num_hidden_layers", layers_range));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, config.integer("hidden_size", width_range));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, config.integer("num_attention_heads", heads_range));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, config.integer("intermediate_size", width_range));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, config.integer("vocab_size", vocab_range));
  // The class's number stands in for an absent key, the number of query heads for null.
  const bool absent = !config.has("num_key_value_heads");
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads,
                        config.integer_or("num_key_value_heads", heads_range,
                                          absent && family.kv_heads > 0 ? family.kv_heads : shape.n_heads));
  if (shape.n_kv_heads > shape.n_heads || shape.n_heads % shape.n_kv_heads != 0)
    return fail("{}: field num_key_value_heads is {}, expected a divisor of num_attention_heads {}",
                config.file(), shape.n_kv_heads, shape.n_heads);
  if (config.is_null_or_absent("head_dim") && shape.d_model % shape.n_heads != 0)
    return config.wrong("hidden_size", fmt::format("a multiple of num_attention_heads {}", shape.n_heads));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim,
                        config.integer_or("head_dim", head_dim_range, shape.d_model / shape.n_heads));
  DRAFTSCOPE_TRY_ASSIGN(shape.max_positions,
                        config.integer_or("max_position_embeddings", positions_range, family.max_positions));
  return {};
}

Result<void> read_biases(const ConfigFields& config, speculation::ModelShape& shape) {
  if (shape.architecture == "Qwen2ForCausalLM") {
    shape.qkv_bias = true;
  } else if (shape.architecture == "LlamaForCausalLM") {
    DRAFTSCOPE_TRY_ASSIGN(shape.qkv_bias, config.boolean_or("attention_bias", false));
    shape.output_bias = shape.qkv_bias;
    DRAFTSCOPE_TRY_ASSIGN(shape.mlp_bias, config.boolean_or("mlp_bias", false));
  }
  return {};
}

Result<void> read_tokens(const ConfigFields& config, std::optional<ConfigText> generation,
                         const Family& family, speculation::ModelShape& shape) {
  const Range<std::int32_t> token_range{0, shape.vocab - 1};
  // A default the vocabulary does not reach names no token.
  const auto reachable = [&](std::int32_t token) { return token < shape.vocab ? token : -1; };
  const bool no_bos = config.has("bos_token_id") && config.is_null_or_absent("bos_token_id");
  DRAFTSCOPE_TRY_ASSIGN(shape.bos_token, config.integer_or("bos_token_id", token_range,
                                                           no_bos ? -1 : reachable(family.bos_token)));
  DRAFTSCOPE_TRY_ASSIGN(shape.eos_tokens, config.integers("eos_token_id", token_range));
  bool named = config.has("eos_token_id");
  if (generation) {
    DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(generation->text, generation->file));
    const ConfigFields fields(parsed, generation->file);
    DRAFTSCOPE_TRY_ASSIGN(const auto more, fields.integers("eos_token_id", token_range));
    for (const auto token : more)
      if (std::find(shape.eos_tokens.begin(), shape.eos_tokens.end(), token) == shape.eos_tokens.end())
        shape.eos_tokens.push_back(token);
    named = named || fields.has("eos_token_id");
  }
  if (!named && reachable(family.eos_token) >= 0) shape.eos_tokens.push_back(family.eos_token);
  return {};
}

}  // namespace

Result<speculation::ModelShape> parse_config(ConfigText text, std::optional<ConfigText> generation) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text.text, text.file));
  const ConfigFields config(parsed, text.file);
  DRAFTSCOPE_TRY_ASSIGN(const auto family, find_family(config));
  speculation::ModelShape shape;
  shape.architecture = family.architecture;
  if (!config.is_null_or_absent("quantization_config"))
    return fail("{}: field quantization_config is present, expected unquantised fp32, bf16 or fp16 weights",
                config.file());
  DRAFTSCOPE_TRY_ASSIGN(const auto activation, config.text_or("hidden_act", "silu"));
  if (activation != "silu") return config.wrong("hidden_act", "'silu'");
  DRAFTSCOPE_TRY(read_dimensions(config, family, shape));
  DRAFTSCOPE_TRY_ASSIGN(shape.rms_epsilon, config.number_or("rms_norm_eps", epsilon_range, 1e-6));
  DRAFTSCOPE_TRY_ASSIGN(shape.rope, parse_rope(config, shape.max_positions));
  DRAFTSCOPE_TRY_ASSIGN(shape.tied_embeddings, config.boolean_or("tie_word_embeddings", false));
  DRAFTSCOPE_TRY(read_biases(config, shape));
  DRAFTSCOPE_TRY(read_sliding_window(config, shape));
  DRAFTSCOPE_TRY(read_tokens(config, generation, family, shape));
  DRAFTSCOPE_TRY(check_shape(shape, text.file));
  return shape;
}

Result<void> check_shape(const speculation::ModelShape& shape, std::string_view source) {
  struct Check {
    std::string_view name;
    std::int32_t value;
    Range<std::int32_t> range;
  };
  const std::array<Check, 8> checks{{{"n_layers", shape.n_layers, layers_range},
                                     {"d_model", shape.d_model, width_range},
                                     {"n_heads", shape.n_heads, heads_range},
                                     {"n_kv_heads", shape.n_kv_heads, heads_range},
                                     {"head_dim", shape.head_dim, head_dim_range},
                                     {"d_ff", shape.d_ff, width_range},
                                     {"vocab", shape.vocab, vocab_range},
                                     {"max_positions", shape.max_positions, positions_range}}};
  for (const auto& [name, value, range] : checks)
    if (value < range.least || value > range.most)
      return fail("{}: {} is {}, expected {} to {}", source, name, value, range.least, range.most);
  if (shape.n_heads % shape.n_kv_heads != 0)
    return fail("{}: n_kv_heads is {}, expected a divisor of n_heads {}", source, shape.n_kv_heads,
                shape.n_heads);
  // Rotary embeddings turn pairs.
  if (shape.head_dim % 2 != 0)
    return fail("{}: head_dim is {}, expected an even number", source, shape.head_dim);
  return {};
}

}  // namespace draftscope::engine
