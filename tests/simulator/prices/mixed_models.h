// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Sizes of published mixtures of experts and hybrids, as their model cards state them.

namespace draftscope::simulator {

inline constexpr const char* mixtral_8x7b = R"({"model_type": "mixtral", "num_hidden_layers": 32,
  "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
  "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000})";

inline constexpr const char* qwen3_30b_a3b = R"({"model_type": "qwen3_moe", "num_hidden_layers": 48,
  "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
  "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128, "num_experts_per_tok": 8,
  "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936})";

inline constexpr const char* gpt_oss_20b = R"({"model_type": "gpt_oss", "num_hidden_layers": 24,
  "hidden_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
  "intermediate_size": 2880, "num_local_experts": 32, "num_experts_per_tok": 4, "sliding_window": 128,
  "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention",
    "sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
    "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention",
    "sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention",
    "full_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention"],
  "quantization_config": {"quant_method": "mxfp4"}, "vocab_size": 201088})";

inline constexpr const char* olmoe_7b = R"({"model_type": "olmoe", "num_hidden_layers": 16,
  "hidden_size": 2048, "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 1024,
  "num_experts": 64, "num_experts_per_tok": 8, "vocab_size": 50304})";

inline constexpr const char* lfm2_8b_a1b = R"({"model_type": "lfm2_moe", "num_hidden_layers": 24,
  "hidden_size": 2048, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 7168,
  "moe_intermediate_size": 1792, "num_dense_layers": 2, "num_experts": 32, "num_experts_per_tok": 4,
  "conv_L_cache": 3, "full_attn_idxs": [2, 6, 10, 14, 18, 21], "vocab_size": 65536})";

inline constexpr const char* jamba_v01 = R"({"model_type": "jamba", "num_hidden_layers": 32,
  "hidden_size": 4096, "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
  "num_experts": 16, "num_experts_per_tok": 2, "expert_layer_period": 2, "expert_layer_offset": 1,
  "attn_layer_period": 8, "attn_layer_offset": 4, "mamba_expand": 2, "mamba_d_state": 16, "mamba_d_conv": 4,
  "mamba_dt_rank": 256, "vocab_size": 65536})";

/// Qwen3.5-27B; 3.6 and 3.8 have the same sizes.
inline constexpr const char* qwen35_27b = R"({"model_type": "qwen3_5", "text_config": {
  "model_type": "qwen3_5_text", "num_hidden_layers": 64, "hidden_size": 5120, "intermediate_size": 17408,
  "num_attention_heads": 24, "num_key_value_heads": 4, "head_dim": 256, "full_attention_interval": 4,
  "linear_num_value_heads": 48, "linear_num_key_heads": 16, "linear_key_head_dim": 128,
  "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "mtp_num_hidden_layers": 1,
  "vocab_size": 248320}})";

}  // namespace draftscope::simulator
