// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_families.h>

#include <array>
#include <utility>

namespace draftscope::speculation {
namespace {

// Sources: the configuration and modelling files of Hugging Face transformers, a folder a model_type.
constexpr std::array families{
    ModelFamily{.architecture = "LlamaForCausalLM",
                .model_type = "llama",
                .max_positions = 2048,
                .bos_token = 1,
                .eos_token = 2},
    ModelFamily{.architecture = "MistralForCausalLM",
                .model_type = "mistral",
                .kv_heads = 8,
                .max_positions = 131072,
                .bos_token = 1,
                .eos_token = 2},
    ModelFamily{
        .architecture = "Qwen2ForCausalLM", .model_type = "qwen2", .kv_heads = 32, .max_positions = 32768},
    // A row below runs nowhere yet: unsupported_trait() says why.
    ModelFamily{.architecture = "Qwen3ForCausalLM",
                .model_type = "qwen3",
                .kv_heads = 32,
                .head_dim = 128,
                .max_positions = 32768,
                .traits = {.qk_norm = true}},
    ModelFamily{.architecture = "Gemma2ForCausalLM",
                .model_type = "gemma2",
                .kv_heads = 4,
                .head_dim = 256,
                .max_positions = 8192,
                .bos_token = 2,
                .eos_token = 1,
                .tied_embeddings = true,
                .traits = {.activation = Activation::gelu_tanh,
                           .norm_weight = NormWeight::plus_one,
                           .norm_place = NormPlace::around,
                           .full_attention_interval = 2,
                           .logit_cap = 30.0,
                           .attention_logit_cap = 50.0,
                           .attention_multiplier = 1.0 / 16.0}},
    ModelFamily{.architecture = "Gemma3ForCausalLM",
                .model_type = "gemma3_text",
                .kv_heads = 4,
                .head_dim = 256,
                .max_positions = 131072,
                .bos_token = 2,
                .eos_token = 1,
                .tied_embeddings = true,
                .traits = {.activation = Activation::gelu_tanh,
                           .norm_weight = NormWeight::plus_one,
                           .norm_place = NormPlace::around,
                           .qk_norm = true,
                           .full_attention_interval = 6,
                           .attention_multiplier = 1.0 / 16.0}},
    ModelFamily{.architecture = "Phi3ForCausalLM",
                .model_type = "phi3",
                .max_positions = 4096,
                .bos_token = 1,
                .eos_token = 32000,
                .traits = {.fused_qkv = true, .fused_gate_up = true}},
    ModelFamily{.architecture = "Olmo2ForCausalLM",
                .model_type = "olmo2",
                .max_positions = 2048,
                .eos_token = 50279,
                .traits = {.norm_place = NormPlace::after, .qk_norm = true}},
    // Its class's multipliers are 1; every published config.json sets them.
    ModelFamily{.architecture = "GraniteForCausalLM",
                .model_type = "granite",
                .max_positions = 2048,
                .bos_token = 1,
                .eos_token = 2,
                .traits = {.attention_multiplier = 1.0}},
    ModelFamily{.architecture = "SmolLM3ForCausalLM",
                .model_type = "smollm3",
                .kv_heads = 4,
                .max_positions = 32768,
                .bos_token = 128000,
                .eos_token = 128001,
                .traits = {.no_rope_interval = 4}},
};

}  // namespace

std::span<const ModelFamily> model_families() {
  return families;
}

const ModelFamily* find_architecture(std::string_view architecture) {
  for (const ModelFamily& family : families)
    if (family.architecture == architecture) return &family;
  return nullptr;
}

const ModelFamily* find_model_type(std::string_view model_type) {
  for (const ModelFamily& family : families)
    if (family.model_type == model_type) return &family;
  return nullptr;
}

std::optional<std::string_view> unsupported_trait(const ArchitectureTraits& traits) {
  // A backend that learns a trait takes its line out.
  const ArchitectureTraits llama;
  const std::pair<bool, std::string_view> missing[] = {
      {traits.logit_cap != llama.logit_cap, "logit soft-capping"},
      {traits.attention_logit_cap != llama.attention_logit_cap, "attention logit soft-capping"},
      {traits.norm_place != llama.norm_place, "a norm of the sublayers' outputs"},
      {traits.norm_weight != llama.norm_weight, "a norm weight that one is added to"},
      {traits.qk_norm, "a norm of queries and keys"},
      {traits.full_attention_interval != 0, "a sliding window in only some layers"},
      {traits.no_rope_interval != 0, "a layer without rotary embeddings"},
      {traits.embedding_multiplier != llama.embedding_multiplier ||
           traits.residual_multiplier != llama.residual_multiplier ||
           traits.attention_multiplier != llama.attention_multiplier ||
           traits.logit_multiplier != llama.logit_multiplier,
       "a multiplier of embeddings, residuals, attention or logits"},
      {traits.fused_qkv || traits.fused_gate_up, "one tensor for several projections"},
      {traits.activation != llama.activation, "a GELU activation"},
  };
  for (const auto& [departs, name] : missing)
    if (departs) return name;
  return std::nullopt;
}

Result<void> check_supported(const ModelFamily& family, std::string_view source) {
  if (const auto trait = unsupported_trait(family.traits))
    return fail("{}: model_type {}: needs {}, expected only what a backend supports", source,
                family.model_type, *trait);
  return {};
}

}  // namespace draftscope::speculation
