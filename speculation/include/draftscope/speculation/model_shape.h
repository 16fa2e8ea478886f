// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What config.json says about a Llama-family model, checked and with every default filled in.

#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::speculation {

/// How rotary frequencies are changed for contexts longer than the model was trained on. The formulas are
/// those of Hugging Face transformers (modeling_rope_utils.py) and the papers named there.
enum class RopeKind : std::uint8_t { standard, linear, dynamic, llama3, yarn };

struct RopeScaling {
  RopeKind kind = RopeKind::standard;
  double theta = 10000.0;
  double factor = 1.0;
  double low_frequency_factor = 1.0;        ///< llama3
  double high_frequency_factor = 4.0;       ///< llama3
  std::int32_t original_max_positions = 0;  ///< llama3, yarn, dynamic
  double beta_fast = 32.0;                  ///< yarn
  double beta_slow = 1.0;                   ///< yarn
  double attention_factor = 0.0;            ///< yarn: scales cos and sin; 0 = derived from factor, mscale
  double mscale = 0.0;                      ///< yarn
  double mscale_all_dim = 0.0;              ///< yarn
  bool truncate = true;                     ///< yarn: round the correction range to whole dimensions
};

struct ModelShape {
  std::string name;          ///< folder name, or the synthetic model's name
  std::string architecture;  ///< "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM"
  std::int32_t n_layers = 0;
  std::int32_t d_model = 0;
  std::int32_t n_heads = 0;
  std::int32_t n_kv_heads = 0;
  std::int32_t head_dim = 0;
  std::int32_t d_ff = 0;
  std::int32_t vocab = 0;
  std::int32_t max_positions = 0;
  double rms_epsilon = 1e-5;
  RopeScaling rope;
  bool tied_embeddings = false;
  bool qkv_bias = false;
  bool output_bias = false;  ///< bias on the attention's output projection (Llama's attention_bias sets both)
  bool mlp_bias = false;
  std::int32_t sliding_window = 0;  ///< Mistral v0.1, Qwen2 if enabled; 0 = full attention
  std::int32_t bos_token = -1;
  std::vector<std::int32_t> eos_tokens;  ///< any of these ends a request

  [[nodiscard]] std::int32_t q_width() const { return n_heads * head_dim; }
  [[nodiscard]] std::int32_t kv_width() const { return n_kv_heads * head_dim; }
};

}  // namespace draftscope::speculation
