// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/json_text.h>
#include <algorithm>
#include <array>

#include "prices/plan/plan_reader.h"

namespace draftscope::simulator {

namespace {

constexpr std::string_view delta_keys =
    "linear_num_value_heads linear_num_key_heads linear_key_head_dim linear_value_head_dim";
constexpr std::string_view qwen_experts = "moe_intermediate_size num_experts num_experts_per_tok";
constexpr std::string_view local_experts = "num_local_experts num_experts_per_tok";
constexpr std::string_view shared_experts =
    "moe_intermediate_size first_k_dense_replace n_shared_experts num_experts_per_tok";
constexpr std::string_view gemma_keys = "sliding_window hidden_size_per_layer_input head_dim global_head_dim";

constexpr std::array<PlannedFamily, 31> planned_families{
    {{"mixtral", Recurrence::none, plain_traits, local_experts},
     {"phimoe", Recurrence::none, plain_traits, local_experts},
     {"olmoe", Recurrence::none, plain_traits, "num_experts num_experts_per_tok"},
     {"qwen2_moe", Recurrence::none, windows_are_asked_for,
      "moe_intermediate_size num_experts num_experts_per_tok shared_expert_intermediate_size"},
     {"qwen3_moe", Recurrence::none, windows_are_asked_for, qwen_experts},
     {"qwen3_vl_moe_text", Recurrence::none, windows_are_asked_for, qwen_experts},
     {"qwen3_next", Recurrence::delta_rule, gated_queries, qwen_experts},
     {"qwen3_5", Recurrence::delta_rule, gated_queries, delta_keys},
     {"qwen3_5_text", Recurrence::delta_rule, gated_queries, delta_keys},
     {"qwen3_5_moe", Recurrence::delta_rule, gated_queries, qwen_experts},
     {"qwen3_5_moe_text", Recurrence::delta_rule, gated_queries, qwen_experts},
     {"gpt_oss", Recurrence::none, plain_traits, "num_local_experts num_experts_per_tok layer_types"},
     {"deepseek", Recurrence::none, plain_traits, "moe_intermediate_size first_k_dense_replace"},
     {"deepseek_v2", Recurrence::none, plain_traits, "kv_lora_rank"},
     {"deepseek_v3", Recurrence::none, plain_traits, "kv_lora_rank"},
     {"glm4_moe", Recurrence::none, plain_traits, shared_experts},
     {"dots1", Recurrence::none, plain_traits, shared_experts},
     {"ernie4_5_moe", Recurrence::none, plain_traits,
      "moe_num_experts moe_k moe_intermediate_size moe_num_shared_experts moe_layer_start_index "
      "moe_layer_interval"},
     {"minimax_m2", Recurrence::none, plain_traits, local_experts},
     {"llama4_text", Recurrence::none, shares_an_expert,
      "num_local_experts num_experts_per_tok intermediate_size_mlp attention_chunk_size "
      "interleave_moe_layer_step"},
     {"gemma4", Recurrence::none, mlp_beside_experts | tied_head, gemma_keys},
     {"gemma4_text", Recurrence::none, mlp_beside_experts | tied_head, gemma_keys},
     {"granitemoe", Recurrence::none, plain_traits, local_experts},
     {"granitemoeshared", Recurrence::none, plain_traits,
      "num_local_experts num_experts_per_tok shared_intermediate_size"},
     {"granitemoehybrid", Recurrence::mamba2, plain_traits, "num_local_experts shared_intermediate_size"},
     {"falcon_h1", Recurrence::mamba2, plain_traits, "mamba_n_heads"},
     {"nemotron_h", Recurrence::mamba2, ungated_mlp, "mamba_num_heads mamba_head_dim"},
     {"jamba", Recurrence::mamba1, plain_traits,
      "num_experts num_experts_per_tok expert_layer_period expert_layer_offset attn_layer_period "
      "attn_layer_offset"},
     {"lfm2", Recurrence::convolution, tied_head, ""},
     {"lfm2_moe", Recurrence::convolution, tied_head,
      "moe_intermediate_size num_experts num_experts_per_tok num_dense_layers"},
     {"mimo", Recurrence::none, plain_traits, "num_nextn_predict_layers"}}};

/// Keys of what has no honest price here.
struct UnpricedTrait {
  std::string_view key;
  std::string_view trait;
};
constexpr std::array<UnpricedTrait, 8> unpriced_traits{
    {{"kv_lora_rank", "latent attention, whose arithmetic grows with the context"},
     {"index_topk", "attention to chosen positions"},
     {"moe_latent_size", "experts on a narrower state"},
     {"num_kv_shared_layers", "layers that share keys and values"},
     {"hidden_size_per_layer_input", "an embedding in each layer"},
     {"swa_num_key_value_heads", "windows with heads of their own"},
     {"add_swa_attention_sink_bias", "windows with heads of their own"},
     {"is_encoder_decoder", "an encoder"}}};

}  // namespace

const PlannedFamily* planned_family(std::string_view model_type) {
  const auto found = std::ranges::find(planned_families, model_type, &PlannedFamily::model_type);
  return found == planned_families.end() ? nullptr : &*found;
}

JsonField first_of(const JsonField& config, std::initializer_list<const char*> keys) {
  for (const char* const key : keys)
    if (!config[key].is_null()) return config[key];
  return config[*keys.begin()];
}

Result<void> check_priced(const JsonField& config, const PlannedFamily& family) {
  for (const UnpricedTrait& unpriced : unpriced_traits) {
    const JsonField field = config[unpriced.key];
    if (field.is_null() || (field.value().is_boolean() && !field.value().get<bool>()) ||
        (field.value().is_number() && field.value().get<double>() <= 0.0))
      continue;
    return fail("{} is {}: the model has {}, expected a model without, which can be priced", field.name(),
                describe(field.value()), unpriced.trait);
  }
  for (std::string_view rest = family.needs; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const JsonField needed = config[rest.substr(0, end)];
    if (needed.is_missing())
      return needed.wrong(fmt::format("a value: layers of {} depend on it", family.model_type));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

}  // namespace draftscope::simulator
