// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_config.h>

#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/speculation/model_families.h>
#include <algorithm>
#include <array>

#include "model_particulars.h"
#include "rope_config.h"
#include "size_ranges.h"

namespace draftscope::speculation {
namespace {

constexpr Range<double> epsilon_range{0.0, 0.1};

/// Lists the families for an error message ("llama, mistral or qwen2"), short enough for a line.
std::string known_families() {
  std::string names;
  for (const ModelFamily& family : model_families()) {
    const bool is_last = &family == &model_families().back();
    names += (names.empty() ? "" : is_last ? " or " : ", ") + std::string(family.model_type);
  }
  return names;
}

/// The table's row for the first name in config.json; null if the table lacks it.
Result<const ModelFamily*> named_family(const JsonField& config) {
  std::vector<std::string> architectures;
  if (!config["architectures"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(architectures, config["architectures"].texts());
  }
  if (!architectures.empty()) return find_architecture(architectures.front());
  DRAFTSCOPE_TRY_ASSIGN(const std::string model_type, config["model_type"].text_or(""));
  return find_model_type(model_type);
}

/// A key that only models other than dense decoders have, and the trait that it names.
struct ForeignTrait {
  std::string_view key;
  std::string_view trait;
  std::int64_t max_dense;  ///< Maximum that the key has in a dense model.
};

constexpr std::array<ForeignTrait, 12> foreign_traits{{
    {"num_local_experts", "a mixture of experts", 1},
    {"n_routed_experts", "a mixture of experts", 1},
    {"num_experts", "a mixture of experts", 1},
    {"moe_num_experts", "a mixture of experts", 1},
    {"kv_lora_rank", "latent attention", 0},
    {"ssm_cfg", "state-space layers", 0},
    {"mamba_d_state", "state-space layers", 0},
    {"ssm_state_size", "state-space layers", 0},
    {"state_size", "state-space layers", 0},
    {"linear_num_value_heads", "linear attention", 0},
    {"is_encoder_decoder", "an encoder", 0},
    {"text_config", "several kinds of input", 0},
}};

/// Architectures that people ask for, and what of them is not computed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> missing_traits{{
    {"NemotronForCausalLM", "norms with a mean and a bias"},
    {"CohereForCausalLM", "attention and MLP side by side"},
    {"Cohere2ForCausalLM", "attention and MLP side by side"},
    {"GlmForCausalLM", "rotation of neighbouring dimensions"},
    {"Glm4ForCausalLM", "rotation of neighbouring dimensions"},
    {"OlmoForCausalLM", "norms without weights"},
    {"Lfm2ForCausalLM", "convolutions"},
    {"InternLM2ForCausalLM", "tensors in an order of their own"},
}};

/// The decoder's part of a file: the whole file or `text_config`.
Result<JsonField> decoder_of(const JsonField& config, const ModelFamily* family) {
  if (family == nullptr || !family->nested || config["text_config"].is_null()) return config;
  return config["text_config"].object();
}

/// Fails if config.json names a trait that dense decoders lack.
Result<void> check_dense(const JsonField& config) {
  for (const ForeignTrait& foreign : foreign_traits) {
    const JsonField field = config[foreign.key];
    if (field.is_null()) continue;
    const nlohmann::json& value = field.value();
    if (value.is_boolean() && !value.get<bool>()) continue;
    if (value.is_number() && value.get<double>() <= static_cast<double>(foreign.max_dense)) continue;
    return fail("{} is {}: the model has {}, expected a dense decoder", field.name(), describe(value),
                foreign.trait);
  }
  return {};
}

Result<const ModelFamily*> supported_family(const JsonField& config) {
  DRAFTSCOPE_TRY_ASSIGN(const ModelFamily* family, named_family(config));
  if (family != nullptr) return family;
  const JsonField architectures = config["architectures"];
  if (architectures.value().empty())
    return fail("{}: architectures is missing and model_type is {}, expected {}", config.file(),
                quote(config["model_type"].text_or("").value()), known_families());
  const auto name = architectures.value().front().get<std::string>();
  for (const auto& [architecture, missing] : missing_traits)
    if (name == architecture)
      return fail("{} names {}, which has {}, expected that of {}", architectures.name(), quote(name),
                  missing, known_families());
  return fail("{} names {}, expected that of {}", architectures.name(), quote(name), known_families());
}

/// Reads the sizes under Llama's keys and checks that they fit together.
Result<void> read_sizes(const JsonField& config, const ModelFamily& family, ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, config["num_hidden_layers"].integer(layers_range));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, config["hidden_size"].integer(width_range));
  const auto size = [&](const char* key, Range<std::int32_t> range, std::int32_t of_class) {
    const JsonField field = config[key];
    return field.is_missing() && of_class > 0 ? Result<std::int32_t>(of_class) : field.integer(range);
  };
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, size("num_attention_heads", heads_range, family.heads));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_ff, config["intermediate_size"].integer(width_range));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, size("vocab_size", vocab_range, family.vocab));
  // An absent key means the class's number, and null the number of query heads.
  const JsonField kv_heads = config["num_key_value_heads"];
  const bool of_class = kv_heads.is_missing() && family.kv_heads > 0;
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads,
                        kv_heads.integer_or(heads_range, of_class ? family.kv_heads : shape.n_heads));
  if (shape.n_kv_heads > shape.n_heads || shape.n_heads % shape.n_kv_heads != 0)
    return fail("{} is {}, expected a divisor of num_attention_heads {}", kv_heads.name(), shape.n_kv_heads,
                shape.n_heads);
  const JsonField head_dim = config["head_dim"];
  const bool shared_out = head_dim.is_null() && (family.head_dim == 0 || !head_dim.is_missing());
  if (shared_out && shape.d_model % shape.n_heads != 0)
    return config["hidden_size"].wrong(fmt::format("a multiple of num_attention_heads {}", shape.n_heads));
  DRAFTSCOPE_TRY_ASSIGN(
      shape.head_dim,
      head_dim.integer_or(head_dim_range, shared_out ? shape.d_model / shape.n_heads : family.head_dim));
  return {};
}

/// Reads one integer or a list of them.
Result<std::vector<std::int32_t>> tokens_of(const JsonField& field, Range<std::int32_t> range) {
  std::vector<std::int32_t> tokens;
  if (field.is_null()) return tokens;
  if (!field.value().is_array()) {
    DRAFTSCOPE_TRY_ASSIGN(tokens.emplace_back(), field.integer(range));
    return tokens;
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto elements, field.list());
  for (const JsonField& element : elements) {
    DRAFTSCOPE_TRY_ASSIGN(tokens.emplace_back(), element.integer(range));
  }
  return tokens;
}

/// Reads first and end tokens from the decoder's part where it names them, otherwise from the whole file.
Result<void> read_tokens(const JsonField& file, const JsonField& decoder,
                         std::optional<ConfigText> generation, const ModelFamily& family, ModelShape& shape) {
  const Range<std::int32_t> token_range{0, shape.vocab - 1};
  // A default outside the vocabulary names no token.
  const auto reachable = [&](std::int32_t token) { return token < shape.vocab ? token : -1; };
  const auto of = [&](const char* key) { return decoder.has(key) ? decoder[key] : file[key]; };
  const JsonField bos = of("bos_token_id");
  DRAFTSCOPE_TRY_ASSIGN(shape.bos_token,
                        bos.integer_or(token_range, bos.is_missing() ? reachable(family.bos_token) : -1));
  DRAFTSCOPE_TRY_ASSIGN(shape.eos_tokens, tokens_of(of("eos_token_id"), token_range));
  bool named = !of("eos_token_id").is_missing();
  if (generation) {
    DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(generation->text, generation->file));
    const JsonField eos = JsonField(parsed, generation->file)["eos_token_id"];
    DRAFTSCOPE_TRY_ASSIGN(const auto more, tokens_of(eos, token_range));
    for (const std::int32_t token : more)
      if (std::find(shape.eos_tokens.begin(), shape.eos_tokens.end(), token) == shape.eos_tokens.end())
        shape.eos_tokens.push_back(token);
    named = named || !eos.is_missing();
  }
  if (!named && reachable(family.eos_token) >= 0) shape.eos_tokens.push_back(family.eos_token);
  return {};
}

/// Fails if the file names an architecture or a type that the table lacks. A file without either is read as
/// Llama's.
Result<void> check_nameless(const JsonField& config) {
  for (const char* const key : {"architectures", "model_type"}) {
    const JsonField field = config[key];
    if (field.is_null() || field.value().empty()) continue;
    const nlohmann::json& named = field.value().is_array() ? field.value().front() : field.value();
    return fail("{} names {}, whose layers are not known, expected a family of {}", field.name(),
                quote(named.is_string() ? named.get<std::string>() : named.dump()), known_families());
  }
  return {};
}

}  // namespace

Result<ModelShape> parse_model_config(ConfigText text, std::optional<ConfigText> generation) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text.text, text.file));
  const JsonField file(parsed, text.file);
  DRAFTSCOPE_TRY_ASSIGN(const ModelFamily* named, named_family(file));
  DRAFTSCOPE_TRY_ASSIGN(const JsonField config, decoder_of(file, named));
  DRAFTSCOPE_TRY(check_dense(config));
  DRAFTSCOPE_TRY_ASSIGN(const ModelFamily* family, supported_family(file));
  ModelShape shape;
  shape.architecture = family->architecture;
  shape.traits = family->traits;
  DRAFTSCOPE_TRY(read_sizes(config, *family, shape));
  DRAFTSCOPE_TRY_ASSIGN(shape.max_positions,
                        config["max_position_embeddings"].integer_or(positions_range, family->max_positions));
  DRAFTSCOPE_TRY_ASSIGN(shape.rms_epsilon,
                        config["rms_norm_eps"].number_or(epsilon_range, family->rms_epsilon));
  DRAFTSCOPE_TRY_ASSIGN(shape.rope, parse_rope(config, *family, shape));
  DRAFTSCOPE_TRY_ASSIGN(shape.tied_embeddings,
                        config["tie_word_embeddings"].boolean_or(family->tied_embeddings));
  DRAFTSCOPE_TRY(read_particulars(config, *family, shape));
  DRAFTSCOPE_TRY(read_tokens(file, config, generation, *family, shape));
  DRAFTSCOPE_TRY(check_shape(shape, text.file));
  return shape;
}

Result<ModelShape> parse_model_sizes(ConfigText text) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text.text, text.file));
  const JsonField file(parsed, text.file);
  DRAFTSCOPE_TRY_ASSIGN(const ModelFamily* named, named_family(file));
  DRAFTSCOPE_TRY_ASSIGN(const JsonField config, decoder_of(file, named));
  DRAFTSCOPE_TRY(check_dense(config));
  if (named == nullptr) DRAFTSCOPE_TRY(check_nameless(file));
  const ModelFamily family = named == nullptr ? ModelFamily{} : *named;
  ModelShape shape;
  shape.name = text.file;
  shape.architecture = family.architecture;
  shape.traits = family.traits;
  DRAFTSCOPE_TRY(read_sizes(config, family, shape));
  DRAFTSCOPE_TRY(check_sizes(shape, text.file));
  return shape;
}

}  // namespace draftscope::speculation
