// SPDX-License-Identifier: GPL-3.0-or-later
#include "architectures.h"

#include <draftscope/base/quote.h>
#include <array>

namespace draftscope::engine::gguf {
namespace {

struct Row {
  std::string_view name;
  std::string_view architecture;  ///< name in the table of families
  bool paired_rows = false;
  bool qkv_bias = false;
  std::string_view turn_end = {};
  bool mlp_norm_is_post_attention = false;
};

// Mistral, Yi and other models with Llama's layers are "llama" in GGUF files too. Ends of turns come from the
// models' generation_config.json.
constexpr std::array architectures{
    Row{.name = "llama", .architecture = "LlamaForCausalLM", .paired_rows = true},
    Row{.name = "qwen2", .architecture = "Qwen2ForCausalLM", .qkv_bias = true},
    Row{.name = "qwen3", .architecture = "Qwen3ForCausalLM"},
    Row{.name = "olmo2", .architecture = "Olmo2ForCausalLM"},
    Row{.name = "granite", .architecture = "GraniteForCausalLM", .paired_rows = true},
    Row{.name = "smollm3", .architecture = "SmolLM3ForCausalLM", .paired_rows = true},
    Row{.name = "phi3", .architecture = "Phi3ForCausalLM", .turn_end = "<|end|>"},
    Row{.name = "gemma2", .architecture = "Gemma2ForCausalLM", .turn_end = "<end_of_turn>"},
    Row{.name = "gemma3", .architecture = "Gemma3ForCausalLM", .turn_end = "<end_of_turn>"},
    Row{.name = "exaone4", .architecture = "Exaone4ForCausalLM"},
    Row{.name = "hunyuan-dense", .architecture = "HunYuanDenseV1ForCausalLM"},
    Row{.name = "arcee", .architecture = "ArceeForCausalLM", .paired_rows = true},
    Row{.name = "apertus", .architecture = "ApertusForCausalLM"},
    Row{.name = "mistral3", .architecture = "Ministral3ForCausalLM", .paired_rows = true},
    Row{.name = "seed_oss", .architecture = "SeedOssForCausalLM", .mlp_norm_is_post_attention = true},
};

std::string known_names() {
  std::string names;
  for (std::size_t i = 0; i < architectures.size(); ++i)
    names += (i == 0                          ? ""
              : i + 1 == architectures.size() ? " or "
                                              : ", ") +
             std::string(architectures[i].name);
  return names;
}

}  // namespace

Result<Architecture> architecture_of(const Metadata& metadata) {
  constexpr std::string_view key = "general.architecture";
  DRAFTSCOPE_TRY_ASSIGN(const auto name, metadata.text(key));
  for (const Row& row : architectures) {
    if (row.name != name) continue;
    const speculation::ModelFamily* const family = speculation::find_architecture(row.architecture);
    return Architecture{row.name,     family,       row.paired_rows,
                        row.qkv_bias, row.turn_end, row.mlp_norm_is_post_attention};
  }
  return metadata.wrong(key, known_names());
}

}  // namespace draftscope::engine::gguf
