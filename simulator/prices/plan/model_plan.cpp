// SPDX-License-Identifier: GPL-3.0-or-later
// Reads config.json of mixtures of experts and hybrids. The facts about families are from Hugging Face
// transformers' configuration and modelling classes.
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/base/text_file.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <draftscope/speculation/model_config.h>
#include <draftscope/speculation/published_models.h>
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "prices/plan/plan_reader.h"

namespace draftscope::simulator {

namespace {

constexpr std::array next_token_keys{"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_layers",
                                     "mtp_num_layers", "num_mtp_modules"};

Result<ModelShape> shape_of(const JsonField& file, const JsonField& config, const PlannedFamily& family) {
  ModelShape shape;
  shape.name = file.file();
  DRAFTSCOPE_TRY_ASSIGN(shape.n_layers, config["num_hidden_layers"].integer(plan_layers));
  DRAFTSCOPE_TRY_ASSIGN(shape.d_model, config["hidden_size"].integer(plan_width));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_heads, config["num_attention_heads"].integer(plan_heads));
  DRAFTSCOPE_TRY_ASSIGN(shape.n_kv_heads,
                        config["num_key_value_heads"].integer_or(plan_heads, shape.n_heads));
  if (config["head_dim"].is_null() && shape.d_model % shape.n_heads != 0)
    return config["hidden_size"].wrong(fmt::format("a multiple of num_attention_heads {}", shape.n_heads));
  DRAFTSCOPE_TRY_ASSIGN(shape.head_dim,
                        config["head_dim"].integer_or(plan_heads, shape.d_model / shape.n_heads));
  DRAFTSCOPE_TRY_ASSIGN(shape.vocab, config["vocab_size"].integer(Range<std::int32_t>{1, 1 << 24}));
  const JsonField tied =
      config.has("tie_word_embeddings") ? config["tie_word_embeddings"] : file["tie_word_embeddings"];
  DRAFTSCOPE_TRY_ASSIGN(shape.tied_embeddings, tied.boolean_or(family.has(tied_head)));
  return shape;
}

/// Counts a sublayer with those of its kind.
template <typename Kind>
void count(std::vector<Kind>& kinds, Kind kind) {
  for (Kind& known : kinds) {
    kind.count = known.count;
    if (known == kind) {
      ++known.count;
      return;
    }
  }
  kind.count = 1;
  kinds.push_back(kind);
}

/// Adds the next-token layer that a file names: full attention and the MLP of the last layer.
Result<void> add_next_token(const JsonField& file, const JsonField& config, const MlpKind& last_mlp,
                            LayerPlan& plan) {
  for (const char* const key : next_token_keys) {
    const JsonField field = config[key].is_null() ? file[key] : config[key];
    DRAFTSCOPE_TRY_ASSIGN(const std::int32_t layers, field.integer_or(Range<std::int32_t>{0, 64}, 0));
    if (layers == 0) continue;
    const MixerKind* attention = nullptr;
    for (const MixerKind& kind : plan.mixers)
      if (kind.kv_values > 0.0 && (attention == nullptr || kind.window == 0)) attention = &kind;
    if (attention == nullptr) return fail("{} is {}, expected layers with attention", field.name(), layers);
    plan.next_token = NextTokenLayer{*attention, last_mlp};
    plan.next_token->mixer.count = plan.next_token->mlp.count = 1;
    return {};
  }
  return {};
}

Result<PlannedModel> planned(const JsonField& file, const JsonField& config, const PlannedFamily& family) {
  DRAFTSCOPE_TRY(check_priced(config, family));
  DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, shape_of(file, config, family));
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> layers, layer_kinds(config, family, shape.n_layers));
  DRAFTSCOPE_TRY_ASSIGN(const ExpertLayers expert_layers, ExpertLayers::read(config));
  DRAFTSCOPE_TRY_ASSIGN(const MlpKinds mlps, mlps_of(config, family));
  LayerPlan plan;
  MlpKind last;
  for (std::int32_t layer = 0; layer < shape.n_layers; ++layer) {
    const std::string& kind = layers[static_cast<std::size_t>(layer)];
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<MixerKind> mixers, mixers_of(config, family, shape, kind));
    for (const MixerKind& mixer : mixers) count(plan.mixers, mixer);
    const bool is_alone = family.model_type == "nemotron_h";  // Its layers are a mixer or an MLP.
    if (is_alone && !mixers.empty()) continue;
    const bool has_experts =
        mlps.experts.n_experts > 0 && (is_alone ? kind == "moe" : expert_layers.has_experts(layer));
    last = has_experts ? mlps.experts : mlps.dense;
    if (last.dense_width + last.n_experts <= 0.0)
      return config["intermediate_size"].wrong("the width of a dense MLP");
    count(plan.mlps, last);
    const double used = last.dense_width + last.n_used * last.expert_width;
    if (used > plan_width.max)
      return config["intermediate_size"].wrong("widths of at most 2^20 that a row uses");
    shape.d_ff = std::max(shape.d_ff, static_cast<std::int32_t>(used));
  }
  if (plan.mixers.empty() || plan.mlps.empty())
    return fail("{}: found {} layers without {}, expected some of each", file.file(), shape.n_layers,
                plan.mixers.empty() ? "attention or a state" : "an MLP");
  DRAFTSCOPE_TRY(add_next_token(file, config, last, plan));
  const JsonField quantised =
      config["quantization_config"].is_null() ? file["quantization_config"] : config["quantization_config"];
  if (!quantised.is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::string method, quantised["quant_method"].text_or(""));
    plan.only_experts_are_narrow = method == "mxfp4";
  }
  DRAFTSCOPE_TRY(speculation::check_sizes(shape, file.file()));
  return PlannedModel{std::move(shape), std::move(plan)};
}

/// Adds windows and a next-token layer to a dense model.
Result<PlannedModel> planned_dense(ModelShape shape, const JsonField& file, const JsonField& config,
                                   std::string_view text) {
  if (!config["layer_types"].is_null()) {
    DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::string> kinds, config["layer_types"].texts());
    for (const std::string& kind : kinds)
      if (kind != "full_attention" && kind != "sliding_attention")
        return fail("{}: layer_types holds {}, expected attention in a dense decoder", file.file(),
                    quote(kind));
  }
  const auto whole = speculation::parse_model_config({text, file.file()});
  if (!whole && !config["sliding_window"].is_null()) return tl::unexpected(whole.error());
  LayerPlan plan;
  const double queries = shape.q_width();
  const double keys = shape.kv_width();
  for (std::int32_t layer = 0; layer < shape.n_layers; ++layer)
    count(plan.mixers, MixerKind{.input_columns = queries,
                                 .kv_columns = 2.0 * keys,
                                 .output_depth = queries,
                                 .kv_values = 2.0 * keys,
                                 .n_kv_heads = shape.n_kv_heads,
                                 .window = whole ? whole->window_of(layer) : 0});
  plan.mlps = {{.count = shape.n_layers,
                .dense_width = static_cast<double>(shape.d_ff),
                .matrices = shape.mlp_matrices()}};
  DRAFTSCOPE_TRY(add_next_token(file, config, plan.mlps.front(), plan));
  if (plan.next_token || plan.mixers.size() > 1 || plan.mixers.front().window > 0)
    return PlannedModel{std::move(shape), std::move(plan)};
  return PlannedModel{std::move(shape), std::nullopt};
}

}  // namespace

Result<PlannedModel> parse_planned_model(std::string_view text, std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(const nlohmann::json parsed, parse_json_object(text, file));
  const JsonField whole(parsed, file);
  const bool is_nested = whole["text_config"].value().is_object();
  const JsonField config = is_nested ? whole["text_config"] : whole;
  const JsonField type = config["model_type"].is_null() ? whole["model_type"] : config["model_type"];
  DRAFTSCOPE_TRY_ASSIGN(const std::string model_type, type.text_or(""));
  if (const PlannedFamily* const family = planned_family(model_type)) return planned(whole, config, *family);
  DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, speculation::parse_model_sizes({text, file}));
  return planned_dense(std::move(shape), whole, config, text);
}

bool LayerPlan::has_experts() const {
  return std::ranges::any_of(mlps, [](const MlpKind& kind) { return kind.n_experts > 0; });
}

bool LayerPlan::has_states() const {
  return std::ranges::any_of(mixers, [](const MixerKind& kind) { return kind.state_bytes > 0.0; });
}

double distinct_experts(std::int32_t n_experts, std::int32_t n_used, double rows) {
  if (n_used >= n_experts) return n_experts;
  const double left_out = std::log1p(-static_cast<double>(n_used) / n_experts);
  return -n_experts * std::expm1(rows * left_out);
}

std::string plan_text(const LayerPlan& plan) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const MlpKind& kind : plan.mlps)
    if (kind.n_experts > 0)
      add(fmt::format("{} layers use {} of {} experts, each row its own choice", kind.count, kind.n_used,
                      kind.n_experts));
  for (const MixerKind& kind : plan.mixers) {
    if (kind.state_bytes > 0.0)
      add(fmt::format("{} have a state of {:.2g} MB", kind.count, 1e-6 * kind.state_bytes));
    if (kind.window > 0) add(fmt::format("{} a window of {} rows", kind.count, kind.window));
  }
  if (plan.next_token) add("a next-token layer follows");
  return text.empty() ? "layers alike" : text;
}

Result<PlannedModel> planned_model_of(const std::string& name_or_file) {
  if (!name_or_file.ends_with(".json")) {
    DRAFTSCOPE_TRY_ASSIGN(ModelShape shape, speculation::find_model_shape(name_or_file));
    return PlannedModel{std::move(shape), std::nullopt};
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::string text, read_text_file(name_or_file, max_settings_bytes));
  return parse_planned_model(text, name_or_file);
}

}  // namespace draftscope::simulator
