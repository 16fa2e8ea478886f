// SPDX-License-Identifier: GPL-3.0-or-later
#include "adapter_config.h"

#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <algorithm>
#include <array>
#include <cmath>

namespace draftscope::engine {
namespace {

constexpr Range<std::int32_t> rank_range{1, 1 << 16};
constexpr Range<double> alpha_range{0.0, 1e6};

/// Fields that are read below, or that say nothing of what is computed.
constexpr std::array<std::string_view, 20> plain_fields{"peft_type",
                                                        "r",
                                                        "lora_alpha",
                                                        "use_rslora",
                                                        "target_modules",
                                                        "layers_to_transform",
                                                        "bias",
                                                        "init_lora_weights",
                                                        "auto_mapping",
                                                        "base_model_name_or_path",
                                                        "inference_mode",
                                                        "loftq_config",
                                                        "lora_dropout",
                                                        "layers_pattern",
                                                        "megatron_core",
                                                        "peft_version",
                                                        "revision",
                                                        "task_type",
                                                        "qalora_group_size",
                                                        "eva_config"};

bool is_set(const nlohmann::json& value) {
  if (value.is_null() || (value.is_boolean() && !value.get<bool>())) return false;
  return !((value.is_array() || value.is_object()) && value.empty());
}

/// Error: something that PEFT can do beside two matrices of one rank.
Result<void> check_plain(const JsonField& config) {
  DRAFTSCOPE_TRY_ASSIGN(const std::string type, config["peft_type"].text());
  if (type != "LORA") return config["peft_type"].wrong("'LORA'");
  DRAFTSCOPE_TRY_ASSIGN(const std::string bias, config["bias"].text_or("none"));
  if (bias != "none") return config["bias"].wrong("'none': biases are not merged");
  DRAFTSCOPE_TRY_ASSIGN(const auto members, config.members());
  for (const auto& [key, field] : members) {
    const bool is_plain = std::find(plain_fields.begin(), plain_fields.end(), key) != plain_fields.end();
    if (!is_plain && is_set(field.value())) return field.wrong("none: only plain LoRA is merged");
  }
  // Other ways to begin change the base's weights too.
  const JsonField start = config["init_lora_weights"];
  if (start.is_null() || start.value().is_boolean()) return {};
  DRAFTSCOPE_TRY_ASSIGN(const std::string name, start.text());
  if (name != "gaussian") return start.wrong("true, false or 'gaussian'");
  return {};
}

Result<std::optional<std::vector<std::string>>> parse_modules(const JsonField& field) {
  if (!field.value().is_string()) return field.texts();
  if (field.value() != "all-linear") return field.wrong("a list of modules or 'all-linear'");
  return std::nullopt;
}

Result<std::optional<std::vector<std::int32_t>>> parse_layers(const JsonField& field, std::int32_t n_layers) {
  if (field.is_null()) return std::nullopt;
  const Range<std::int32_t> range{0, n_layers - 1};
  std::vector<std::int32_t> layers;
  if (!field.value().is_array()) {
    DRAFTSCOPE_TRY_ASSIGN(layers.emplace_back(), field.integer(range));
    return layers;
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<JsonField> entries, field.list());
  for (const JsonField& entry : entries) {
    DRAFTSCOPE_TRY_ASSIGN(layers.emplace_back(), entry.integer(range));
  }
  return layers;
}

}  // namespace

Result<AdapterConfig> parse_adapter_config(std::string_view text, std::string_view file,
                                           std::int32_t n_layers) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, parse_json_object(text, file));
  const JsonField config(parsed, file);
  DRAFTSCOPE_TRY(check_plain(config));
  AdapterConfig adapter;
  DRAFTSCOPE_TRY_ASSIGN(adapter.rank, config["r"].integer(rank_range));
  DRAFTSCOPE_TRY_ASSIGN(const double alpha, config["lora_alpha"].number(alpha_range));
  DRAFTSCOPE_TRY_ASSIGN(const bool stabilised, config["use_rslora"].boolean_or(false));
  adapter.scale = alpha / (stabilised ? std::sqrt(adapter.rank) : adapter.rank);
  DRAFTSCOPE_TRY_ASSIGN(adapter.modules, parse_modules(config["target_modules"]));
  DRAFTSCOPE_TRY_ASSIGN(adapter.layers, parse_layers(config["layers_to_transform"], n_layers));
  return adapter;
}

}  // namespace draftscope::engine
