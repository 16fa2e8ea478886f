// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/model_families.h>

#include <array>

namespace draftscope::speculation {
namespace {

/// A row of Gemma 3: its text model by itself, or with a model of images.
constexpr ModelFamily gemma3(std::string_view architecture, std::string_view model_type, bool nested) {
  return {.architecture = architecture,
          .model_type = model_type,
          .heads = 8,
          .kv_heads = 4,
          .head_dim = 256,
          .vocab = 262208,
          .max_positions = 131072,
          .bos_token = 2,
          .eos_token = 1,
          .tied_embeddings = true,
          .theta = 1e6,
          .local_theta = 1e4,
          .nested = nested,
          .traits = {.activation = Activation::gelu_tanh,
                     .norm_weight = NormWeight::plus_one,
                     .norm_place = NormPlace::around,
                     .qk_norm = QkNorm::heads,
                     .full_attention_interval = 6,
                     .attention_multiplier = 1.0 / 16.0,
                     .embedding_multiplier = 0.0}};
}

/// A row of Ministral 3: its text model by itself, or with a model of images.
constexpr ModelFamily ministral3(std::string_view architecture, std::string_view model_type, bool nested) {
  return {.architecture = architecture,
          .model_type = model_type,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .vocab = 131072,
          .max_positions = 262144,
          .bos_token = 1,
          .eos_token = 2,
          .rms_epsilon = 1e-5,
          .rope_key = "llama_4_scaling_beta",
          .nested = nested};
}

// Sources: the configuration and modelling files of Hugging Face transformers, one folder per model_type.
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
    ModelFamily{.architecture = "Qwen3ForCausalLM",
                .model_type = "qwen3",
                .kv_heads = 32,
                .head_dim = 128,
                .max_positions = 32768,
                .traits = {.qk_norm = QkNorm::heads}},
    ModelFamily{.architecture = "SmolLM3ForCausalLM",
                .model_type = "smollm3",
                .kv_heads = 4,
                .max_positions = 32768,
                .bos_token = 128000,
                .eos_token = 128001,
                .tied_embeddings = true,
                .theta = 2e6,
                .traits = {.no_rope_interval = 4}},
    // The class's multipliers are 1, but every published config.json sets them.
    ModelFamily{.architecture = "GraniteForCausalLM",
                .model_type = "granite",
                .max_positions = 2048,
                .bos_token = 1,
                .eos_token = 2,
                .traits = {.attention_multiplier = 1.0}},
    ModelFamily{.architecture = "Olmo2ForCausalLM",
                .model_type = "olmo2",
                .max_positions = 2048,
                .eos_token = 50279,
                .rms_epsilon = 1e-5,
                .traits = {.norm_place = NormPlace::after, .qk_norm = QkNorm::whole}},
    ModelFamily{.architecture = "Phi3ForCausalLM",
                .model_type = "phi3",
                .max_positions = 4096,
                .bos_token = 1,
                .eos_token = 32000,
                .rms_epsilon = 1e-5,
                .rotates_partly = true,
                .traits = {.fused_qkv = true, .fused_gate_up = true}},
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
                           .attention_multiplier = 1.0 / 16.0,
                           .embedding_multiplier = 0.0}},
    gemma3("Gemma3ForCausalLM", "gemma3_text", false),
    gemma3("Gemma3ForConditionalGeneration", "gemma3", true),
    ModelFamily{
        .architecture = "Olmo3ForCausalLM",
        .model_type = "olmo3",
        .max_positions = 2048,
        .eos_token = 50279,
        .rms_epsilon = 1e-5,
        .theta = 5e5,
        .scales_full_layers = true,
        .traits = {.norm_place = NormPlace::after, .qk_norm = QkNorm::whole, .full_attention_interval = 4}},
    ModelFamily{.architecture = "Exaone4ForCausalLM",
                .model_type = "exaone4",
                .kv_heads = 32,
                .max_positions = 2048,
                .bos_token = 0,
                .eos_token = 2,
                .rms_epsilon = 1e-5,
                .traits = {.norm_place = NormPlace::after,
                           .qk_norm = QkNorm::heads,
                           .full_attention_interval = 4,
                           .no_rope_interval = 4}},
    ModelFamily{.architecture = "SeedOssForCausalLM",
                .model_type = "seed_oss",
                .kv_heads = 8,
                .head_dim = 128,
                .max_positions = 524288,
                .bos_token = 0,
                .eos_token = 2},
    ModelFamily{.architecture = "HunYuanDenseV1ForCausalLM",
                .model_type = "hunyuan_v1_dense",
                .max_positions = 2048,
                .bos_token = 1,
                .eos_token = 2,
                .rms_epsilon = 1e-5,
                .rope_key = "alpha",
                .traits = {.qk_norm = QkNorm::rotated_heads}},
    ModelFamily{.architecture = "ArceeForCausalLM",
                .model_type = "arcee",
                .max_positions = 4096,
                .bos_token = 128000,
                .eos_token = 128001,
                .rms_epsilon = 1e-5,
                .traits = {.activation = Activation::relu_squared, .gated_mlp = false}},
    ModelFamily{.architecture = "ApertusForCausalLM",
                .model_type = "apertus",
                .max_positions = 65536,
                .bos_token = 1,
                .eos_token = 2,
                .rms_epsilon = 1e-5,
                .theta = 12e6,
                .traits = {.activation = Activation::xielu,
                           .gated_mlp = false,
                           .qk_norm = QkNorm::heads,
                           .norms_named_by_sublayer = true}},
    ministral3("Ministral3ForCausalLM", "ministral3", false),
    ministral3("Mistral3ForConditionalGeneration", "mistral3", true),
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

}  // namespace draftscope::speculation
