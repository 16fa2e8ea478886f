// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes of GGUF files, under the names that config.json has for them. The keys are those that the ggml
// project's gguf-py documents.
#include <draftscope/base/json_field.h>
#include <draftscope/base/json_text.h>
#include <draftscope/base/quote.h>
#include <draftscope/simulator/prices/layer_plan.h>
#include <algorithm>
#include <array>
#include <iterator>

namespace draftscope::simulator {

namespace {

/// Name of an architecture in either format.
struct GgufFamily {
  std::string_view architecture;
  std::string_view model_type;
  std::int32_t window_interval = 0;  ///< Interval of the layers without a window; 0 = not implied.
};
constexpr std::array gguf_families{GgufFamily{"llama", "llama"},
                                   GgufFamily{"mistral3", "ministral3"},
                                   GgufFamily{"qwen2", "qwen2"},
                                   GgufFamily{"qwen3", "qwen3"},
                                   GgufFamily{"gemma2", "gemma2", 2},
                                   GgufFamily{"gemma3", "gemma3_text", 6},
                                   GgufFamily{"phi3", "phi3"},
                                   GgufFamily{"arcee", "arcee"},
                                   GgufFamily{"apertus", "apertus"},
                                   GgufFamily{"olmo2", "olmo2"},
                                   GgufFamily{"granite", "granite"},
                                   GgufFamily{"smollm3", "smollm3"},
                                   GgufFamily{"exaone4", "exaone4", 4},
                                   GgufFamily{"hunyuan-dense", "hunyuan_v1_dense"},
                                   GgufFamily{"seed_oss", "seed_oss"},
                                   GgufFamily{"mimo", "mimo"},
                                   GgufFamily{"qwen2moe", "qwen2_moe"},
                                   GgufFamily{"qwen3moe", "qwen3_moe"},
                                   GgufFamily{"qwen3next", "qwen3_next"},
                                   GgufFamily{"qwen35", "qwen3_5"},
                                   GgufFamily{"qwen35moe", "qwen3_5_moe"},
                                   GgufFamily{"olmoe", "olmoe"},
                                   GgufFamily{"phimoe", "phimoe"},
                                   GgufFamily{"gpt-oss", "gpt_oss", 2},
                                   GgufFamily{"deepseek", "deepseek"},
                                   GgufFamily{"deepseek2", "deepseek_v3"},
                                   GgufFamily{"glm4moe", "glm4_moe"},
                                   GgufFamily{"dots1", "dots1"},
                                   GgufFamily{"minimax-m2", "minimax_m2"},
                                   GgufFamily{"granitemoe", "granitemoe"},
                                   GgufFamily{"granitehybrid", "granitemoehybrid"},
                                   GgufFamily{"falcon-h1", "falcon_h1"},
                                   GgufFamily{"nemotron_h", "nemotron_h"},
                                   GgufFamily{"nemotron_h_moe", "nemotron_h"},
                                   GgufFamily{"jamba", "jamba"},
                                   GgufFamily{"lfm2", "lfm2"},
                                   GgufFamily{"lfm2moe", "lfm2_moe"}};

struct RenamedKey {
  const char* gguf;
  const char* config;
};
constexpr std::array<RenamedKey, 27> renamed_keys{
    {{"embedding_length", "hidden_size"},
     {"context_length", "max_position_embeddings"},
     {"attention.head_count", "num_attention_heads"},
     {"attention.key_length", "head_dim"},
     {"attention.kv_lora_rank", "kv_lora_rank"},
     {"attention.indexer.top_k", "index_topk"},
     {"attention.sliding_window", "sliding_window"},
     {"attention.shared_kv_layers", "num_kv_shared_layers"},
     {"embedding_length_per_layer_input", "hidden_size_per_layer_input"},
     {"expert_used_count", "num_experts_per_tok"},
     {"expert_feed_forward_length", "moe_intermediate_size"},
     {"expert_shared_feed_forward_length", "shared_expert_intermediate_size"},
     {"expert_shared_count", "n_shared_experts"},
     {"moe_latent_size", "moe_latent_size"},
     {"leading_dense_block_count", "first_k_dense_replace"},
     {"interleave_moe_layer_step", "interleave_moe_layer_step"},
     {"moe_every_n_layers", "decoder_sparse_step"},
     {"nextn_predict_layers", "num_nextn_predict_layers"},
     {"full_attention_interval", "full_attention_interval"},
     {"shortconv.l_cache", "conv_L_cache"},
     {"ssm.conv_kernel", "mamba_d_conv"},
     {"ssm.state_size", "mamba_d_state"},
     {"ssm.group_count", "mamba_n_groups"},
     {"ssm.inner_size", "mamba_d_ssm"},
     {"ssm.time_step_rank", "mamba_n_heads"},
     {"vocab_size", "vocab_size"},
     {"attention.chunk_size", "attention_chunk_size"}}};

bool is_size(const nlohmann::json& value) {
  return value.is_number_integer() || value.is_boolean();
}

/// Number of a layer in a key that holds one number or one a layer; 0 where there is none.
std::int64_t of_layer(const nlohmann::json& value, std::size_t layer) {
  const nlohmann::json* one = &value;
  if (value.is_array()) {
    if (layer >= value.size()) return 0;
    one = &value[layer];
  }
  return is_size(*one) ? one->get<std::int64_t>() : 0;
}

/// Drops members other than the architecture, integers and flat lists of them.
void keep_sizes(nlohmann::json& sizes) {
  for (auto member = sizes.begin(); member != sizes.end();) {
    const bool is_kept = member.key() == "architecture" || is_size(*member) ||
                         (member->is_array() && std::all_of(member->begin(), member->end(), is_size));
    member = is_kept ? std::next(member) : sizes.erase(member);
  }
}

std::int64_t greatest(const nlohmann::json& value) {
  std::int64_t most = of_layer(value, 0);
  for (std::size_t i = 1; value.is_array() && i < value.size(); ++i)
    most = std::max(most, of_layer(value, i));
  return most;
}

/// Kinds of layers where keys hold one number a layer: no K/V heads mean a recurrence or an MLP.
nlohmann::json kinds_by_heads(const nlohmann::json& sizes, std::size_t n_layers, bool is_alone,
                              bool has_experts) {
  nlohmann::json kinds = nlohmann::json::array();
  const auto at = [&](const char* key, std::size_t layer) {
    const auto found = sizes.find(key);
    return found == sizes.end() ? 0 : of_layer(*found, layer);
  };
  for (std::size_t layer = 0; layer < n_layers; ++layer) {
    if (at("attention.head_count_kv", layer) > 0)
      kinds.push_back("full_attention");
    else if (is_alone && at("feed_forward_length", layer) > 0)
      kinds.push_back(has_experts ? "moe" : "mlp");
    else
      kinds.push_back(sizes.contains("shortconv.l_cache") ? "conv" : "mamba");
  }
  return kinds;
}

void add_recurrence(const nlohmann::json& sizes, std::string_view model_type, nlohmann::json& config) {
  if (!model_type.starts_with("qwen3")) return;
  for (const auto& [gguf, name] : {std::pair{"ssm.time_step_rank", "linear_num_value_heads"},
                                   {"ssm.group_count", "linear_num_key_heads"},
                                   {"ssm.state_size", "linear_key_head_dim"},
                                   {"ssm.conv_kernel", "linear_conv_kernel_dim"}})
    if (sizes.contains(gguf)) config[name] = sizes[gguf];
  const std::int64_t heads = sizes.contains("ssm.time_step_rank") ? greatest(sizes["ssm.time_step_rank"]) : 0;
  if (heads > 0 && sizes.contains("ssm.inner_size"))
    config["linear_value_head_dim"] = greatest(sizes["ssm.inner_size"]) / heads;
}

}  // namespace

Result<PlannedModel> parse_gguf_model(std::string_view text, std::string_view file) {
  DRAFTSCOPE_TRY_ASSIGN(nlohmann::json sizes, parse_json_object(text, file));
  keep_sizes(sizes);
  const JsonField root(sizes, file);
  DRAFTSCOPE_TRY_ASSIGN(const std::string architecture, root["architecture"].text());
  const auto* const family = std::ranges::find(gguf_families, architecture, &GgufFamily::architecture);
  if (family == gguf_families.end())
    return fail(
        "{}: general.architecture is {}, whose layers are not known, expected one like llama, qwen35moe or "
        "gpt-oss",
        file, quote(architecture));
  nlohmann::json config = nlohmann::json::object();
  for (const RenamedKey& key : renamed_keys)
    if (sizes.contains(key.gguf)) config[key.config] = sizes[key.gguf];
  constexpr Range<std::int32_t> blocks{1, 1024};
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t all_layers, root["block_count"].integer(blocks));
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t next_token,
                        root["nextn_predict_layers"].integer_or(Range<std::int32_t>{0, all_layers - 1}, 0));
  const std::int32_t n_layers = all_layers - next_token;
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t experts,
                        root["expert_count"].integer_or(Range<std::int32_t>{0, 1 << 14}, 0));
  std::string_view model_type = family->model_type;
  if (model_type == "llama" && experts > 0) model_type = "mixtral";
  config["model_type"] = model_type;
  config["num_hidden_layers"] = n_layers;
  if (experts > 0) config["num_experts"] = config["num_local_experts"] = config["n_routed_experts"] = experts;
  for (const auto& [gguf, name] : {std::pair{"attention.head_count", "num_attention_heads"},
                                   {"attention.head_count_kv", "num_key_value_heads"},
                                   {"feed_forward_length", "intermediate_size"}})
    if (sizes.contains(gguf)) config[name] = greatest(sizes[gguf]);
  // A key that a GGUF file lacks follows from its other sizes, whatever the family's class has for it.
  if (!config.contains("num_key_value_heads") && config.contains("num_attention_heads"))
    config["num_key_value_heads"] = config["num_attention_heads"];
  if (!config.contains("head_dim")) config["head_dim"] = nullptr;
  add_recurrence(sizes, model_type, config);
  const bool is_granite = model_type.starts_with("granitemoe");
  if (is_granite) {
    config["num_local_experts"] = experts;
    const char* const shared = "expert_shared_feed_forward_length";
    config["shared_intermediate_size"] =
        sizes.contains(shared) ? sizes[shared] : config.value("intermediate_size", nlohmann::json());
    config.erase("shared_expert_intermediate_size");
  }
  if (model_type == "lfm2_moe")
    config["num_dense_layers"] = greatest(sizes.value("leading_dense_block_count", nlohmann::json(0)));
  if (model_type == "nemotron_h") {
    config["mamba_num_heads"] = config.value("mamba_n_heads", nlohmann::json());
    const std::int64_t heads = greatest(config["mamba_num_heads"]);
    if (heads > 0) config["mamba_head_dim"] = greatest(config.value("mamba_d_ssm", nlohmann::json())) / heads;
    if (experts > 0) {
      config["moe_shared_expert_intermediate_size"] =
          config.value("shared_expert_intermediate_size", nlohmann::json(0));
      config.erase("shared_expert_intermediate_size");
    }
  }
  const auto places = static_cast<std::size_t>(n_layers);
  if (sizes.contains("attention.head_count_kv") && sizes["attention.head_count_kv"].is_array() &&
      (sizes.contains("ssm.state_size") || sizes.contains("shortconv.l_cache")))
    config["layer_types"] = kinds_by_heads(sizes, places, model_type == "nemotron_h", experts > 0);
  if (family->window_interval > 0 && config.contains("sliding_window")) {
    config["layer_types"] = nlohmann::json::array();
    for (std::size_t layer = 0; layer < places; ++layer)
      config["layer_types"].push_back((layer + 1) % static_cast<std::size_t>(family->window_interval) == 0
                                          ? "full_attention"
                                          : "sliding_attention");
  }
  return parse_planned_model(config.dump(), file);
}

}  // namespace draftscope::simulator
