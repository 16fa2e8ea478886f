// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "prices/plan/plan_reader.h"

namespace draftscope::simulator {

namespace {

constexpr double state_element = 4.0;  // Engines keep recurrent states in 32 bits, and convolutions in 16.
constexpr double convolution_element = 2.0;

/// Kinds of layers by name, where no list names them.
Result<std::vector<std::string>> implied_layers(const JsonField& config, const PlannedFamily& family,
                                                std::int32_t n_layers) {
  std::vector<std::string> kinds(static_cast<std::size_t>(n_layers), "full_attention");
  const auto put = [&](const auto& is_other, const char* other) {
    for (std::int32_t layer = 0; layer < n_layers; ++layer)
      if (is_other(layer)) kinds[static_cast<std::size_t>(layer)] = other;
  };
  if (!config["full_attn_idxs"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<double> full, config["full_attn_idxs"].numbers());
    put([&](std::int32_t layer) { return std::ranges::find(full, layer) == full.end(); }, "conv");
  } else if (!config["attn_layer_period"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const auto period, config["attn_layer_period"].integer(plan_layers));
    DRAFTSCOPE_TRY_ASSIGN(const auto offset, config["attn_layer_offset"].integer(plan_width_or_none));
    put([&](std::int32_t layer) { return layer % period != offset; }, "mamba");
  } else if (family.recurrence == Recurrence::delta_rule) {
    DRAFTSCOPE_TRY_ASSIGN(const auto interval, config["full_attention_interval"].integer_or(plan_layers, 4));
    put([&](std::int32_t layer) { return (layer + 1) % interval != 0; }, "linear_attention");
  } else if (family.model_type == "falcon_h1") {
    put([](std::int32_t) { return true; }, "hybrid");
  } else if (family.recurrence != Recurrence::none) {
    return config["layer_types"].wrong("the kind of each layer");
  } else if (!config["attention_chunk_size"].is_null()) {
    // Llama 4: every fourth layer neither rotates nor is chunked.
    constexpr std::int32_t usual_interval = 4;
    put([](std::int32_t layer) { return (layer + 1) % usual_interval != 0; }, "chunked_attention");
  } else if (family.has(mlp_beside_experts)) {
    constexpr std::int32_t usual_interval = 6;
    put([](std::int32_t layer) { return (layer + 1) % usual_interval != 0; }, "sliding_attention");
  } else if (!config["sliding_window"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const bool is_used,
                          config["use_sliding_window"].boolean_or(!family.has(windows_are_asked_for)));
    if (is_used) put([](std::int32_t) { return true; }, "sliding_attention");
  }
  return kinds;
}

Result<MixerKind> attention_of(const JsonField& config, const PlannedFamily& family, const ModelShape& shape,
                               std::int32_t window) {
  std::int32_t head_dim = shape.head_dim;
  std::int32_t kv_heads = shape.n_kv_heads;
  bool values_are_keys = false;
  if (window == 0 && !config["global_head_dim"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(head_dim, config["global_head_dim"].integer(plan_heads));
    DRAFTSCOPE_TRY_ASSIGN(values_are_keys, config["attention_k_eq_v"].boolean_or(false));
    if (values_are_keys) {
      DRAFTSCOPE_TRY_ASSIGN(kv_heads, config["num_global_key_value_heads"].integer_or(plan_heads, kv_heads));
    }
  }
  DRAFTSCOPE_TRY_ASSIGN(const bool gated, config["attn_output_gate"].boolean_or(family.has(gated_queries)));
  const double queries = static_cast<double>(shape.n_heads) * head_dim;
  const double keys = static_cast<double>(kv_heads) * head_dim;
  return MixerKind{.input_columns = gated ? 2.0 * queries : queries,
                   .kv_columns = values_are_keys ? keys : 2.0 * keys,
                   .output_depth = queries,
                   .kv_values = 2.0 * keys,
                   .n_kv_heads = kv_heads,
                   .window = window};
}

/// Gated DeltaNet: queries, keys, values, gates and two numbers a head, and a square state a value head.
Result<MixerKind> delta_rule_of(const JsonField& config) {
  DRAFTSCOPE_TRY_ASSIGN(const double value_heads, config["linear_num_value_heads"].integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double key_heads, config["linear_num_key_heads"].integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double key_dim, config["linear_key_head_dim"].integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double value_dim, config["linear_value_head_dim"].integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double taps, config["linear_conv_kernel_dim"].integer_or(plan_heads, 4));
  const double values = value_heads * value_dim;
  const double mixed = 2.0 * key_heads * key_dim + values;
  return MixerKind{
      .input_columns = mixed + values + 2.0 * value_heads,
      .output_depth = values,
      .state_bytes = state_element * values * key_dim + convolution_element * mixed * (taps - 1.0),
      .other_weights = mixed * taps};
}

Result<MixerKind> mamba2_of(const JsonField& config, const ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t heads,
                        first_of(config, {"mamba_num_heads", "mamba_n_heads"}).integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double states,
                        first_of(config, {"ssm_state_size", "mamba_d_state"}).integer(plan_width));
  DRAFTSCOPE_TRY_ASSIGN(const double groups,
                        first_of(config, {"mamba_n_groups", "n_groups"}).integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double taps,
                        first_of(config, {"conv_kernel", "mamba_d_conv"}).integer(plan_heads));
  double inner = 0.0;
  if (const JsonField dim = first_of(config, {"mamba_head_dim", "mamba_d_head"}); dim.value().is_number()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t head_dim, dim.integer(plan_width));
    inner = static_cast<double>(heads) * head_dim;
  } else if (const JsonField whole = config["mamba_d_ssm"]; !whole.is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(inner, whole.integer(plan_width));
  } else {
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t expand, config["mamba_expand"].integer(plan_heads));
    inner = static_cast<double>(expand) * shape.d_model;
  }
  const double mixed = inner + 2.0 * groups * states;
  return MixerKind{.input_columns = inner + mixed + heads,
                   .output_depth = inner,
                   .state_bytes = state_element * inner * states + convolution_element * mixed * (taps - 1.0),
                   .other_weights = mixed * taps};
}

Result<MixerKind> mamba1_of(const JsonField& config, const ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const double expand, config["mamba_expand"].integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(const double states, config["mamba_d_state"].integer(plan_width));
  DRAFTSCOPE_TRY_ASSIGN(const double taps, config["mamba_d_conv"].integer(plan_heads));
  double rank = std::ceil(shape.d_model / 16.0);  // "auto"
  if (config["mamba_dt_rank"].value().is_number()) {
    DRAFTSCOPE_TRY_ASSIGN(rank, config["mamba_dt_rank"].integer(plan_width));
  }
  const double inner = expand * shape.d_model;
  return MixerKind{.input_columns = 2.0 * inner,
                   .output_depth = inner,
                   .state_bytes = state_element * inner * states + convolution_element * inner * (taps - 1.0),
                   .other_weights = inner * (2.0 * rank + 3.0 * states + taps)};
}

Result<MixerKind> convolution_of(const JsonField& config, const ModelShape& shape) {
  DRAFTSCOPE_TRY_ASSIGN(const double taps, config["conv_L_cache"].integer(plan_heads));
  const double d_model = shape.d_model;
  return MixerKind{.input_columns = 3.0 * d_model,
                   .output_depth = d_model,
                   .state_bytes = convolution_element * d_model * taps,
                   .other_weights = d_model * taps};
}

Result<MixerKind> recurrence_of(const JsonField& config, const PlannedFamily& family, const ModelShape& shape,
                                const std::string& kind) {
  switch (family.recurrence) {
    case Recurrence::delta_rule:
      return delta_rule_of(config);
    case Recurrence::mamba2:
      return mamba2_of(config, shape);
    case Recurrence::mamba1:
      return mamba1_of(config, shape);
    case Recurrence::convolution:
      return convolution_of(config, shape);
    case Recurrence::none:
      break;
  }
  return fail("{}: layer_types holds {}, expected attention in {}", config.file(), quote(kind),
              family.model_type);
}

}  // namespace

Result<std::vector<std::string>> layer_kinds(const JsonField& config, const PlannedFamily& family,
                                             std::int32_t n_layers) {
  const JsonField named = first_of(config, {"layer_types", "layers_block_type"});
  std::vector<std::string> kinds;
  if (const JsonField pattern = config["hybrid_override_pattern"]; !pattern.is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string letters, pattern.text());
    kinds.reserve(letters.size());
    for (const char letter : letters) {
      const std::size_t place = std::string_view("M*-E").find(letter);
      if (place == std::string_view::npos) return pattern.wrong("letters of M, *, - and E");
      kinds.emplace_back(std::array{"mamba", "attention", "mlp", "moe"}.at(place));
    }
  } else if (!named.is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(kinds, named.texts());
  } else {
    return implied_layers(config, family, n_layers);
  }
  if (std::cmp_not_equal(kinds.size(), n_layers))
    return fail("{}: {} layers have a kind, expected num_hidden_layers {}", config.file(), kinds.size(),
                n_layers);
  return kinds;
}

Result<std::vector<MixerKind>> mixers_of(const JsonField& config, const PlannedFamily& family,
                                         const ModelShape& shape, const std::string& kind) {
  std::vector<MixerKind> mixers;
  if (kind == "mlp" || kind == "moe") return mixers;
  if (kind == "hybrid" || kind == "linear_attention" || kind == "mamba" || kind == "conv") {
    DRAFTSCOPE_TRY_ASSIGN(mixers.emplace_back(), recurrence_of(config, family, shape, kind));
    if (kind != "hybrid") return mixers;
  } else if (kind != "full_attention" && kind != "attention" && kind != "sliding_attention" &&
             kind != "chunked_attention") {
    return fail("{}: layer_types holds {}, expected attention, a window or a recurrence of {}", config.file(),
                quote(kind), family.model_type);
  }
  std::int32_t window = 0;
  if (kind == "sliding_attention") {
    DRAFTSCOPE_TRY_ASSIGN(window, config["sliding_window"].integer(Range<std::int32_t>{1, 1 << 30}));
  } else if (kind == "chunked_attention") {
    DRAFTSCOPE_TRY_ASSIGN(window, config["attention_chunk_size"].integer(Range<std::int32_t>{1, 1 << 30}));
  }
  DRAFTSCOPE_TRY_ASSIGN(mixers.emplace_back(), attention_of(config, family, shape, window));
  return mixers;
}

}  // namespace draftscope::simulator
