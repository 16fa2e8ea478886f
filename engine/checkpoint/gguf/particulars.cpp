// SPDX-License-Identifier: GPL-3.0-or-later
#include "checkpoint/gguf/shape.h"

#include <draftscope/speculation/layer_interval.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace draftscope::engine::gguf {
namespace {

using speculation::ModelShape;

constexpr Range<std::int32_t> window_range{0, std::numeric_limits<std::int32_t>::max()};
constexpr Range<std::int32_t> interval_range{0, 1 << 20};
constexpr Range<double> multiplier_range{1e-6, 1e6};
constexpr Range<double> cap_range{0.0, multiplier_range.max};

/// A key for something that an architecture's layers lack; it must have its neutral value.
struct ForeignKey {
  std::string_view key;  ///< key without the architecture's name
  double neutral;
  std::string_view trait;
  std::array<std::string_view, 4> readers = {};  ///< architectures that support it; empty after the last
};

constexpr std::array foreign_keys{
    ForeignKey{"expert_count", 0.0, "a mixture of experts"},
    ForeignKey{"attention.sliding_window", 0.0, "a sliding window", {"gemma2", "gemma3", "phi3", "exaone4"}},
    ForeignKey{"attention.clamp_kqv", 0.0, "a limit of queries, keys and values"},
    ForeignKey{"attention.max_alibi_bias", 0.0, "a bias by distance"},
    ForeignKey{"attention.scale", 0.0, "a multiplier of attention", {"granite", "gemma2", "gemma3"}},
    ForeignKey{"attn_logit_softcapping", 0.0, "attention logit soft-capping", {"gemma2", "gemma3"}},
    ForeignKey{"final_logit_softcapping", 0.0, "logit soft-capping", {"gemma2", "gemma3"}},
    ForeignKey{"logit_scale", 1.0, "a multiplier of logits", {"granite"}},
    ForeignKey{"residual_scale", 1.0, "a multiplier of residuals", {"granite"}},
    ForeignKey{"embedding_scale", 1.0, "a multiplier of embeddings", {"granite"}},
    ForeignKey{"rope.scaling.yarn_attn_factor", 1.0, "a multiplier of rotated vectors"},
    ForeignKey{"rope.scaling.yarn_ext_factor", 1.0, "another mixture of frequencies"},
    ForeignKey{"rope.scaling.yarn_log_multiplier", 0.0, "a multiplier of rotated vectors", {"mistral3"}},
    ForeignKey{"attention.temperature_scale", 0.0, "queries scaled by their position", {"mistral3"}},
};

Result<void> check_nothing_foreign(const Metadata& metadata, const Architecture& architecture) {
  const std::string causal = architecture.key("attention.causal");
  DRAFTSCOPE_TRY_ASSIGN(const bool looks_back, metadata.boolean_or(causal, true));
  if (!looks_back) return metadata.wrong(causal, "true: only a decoder that looks back is supported");
  for (const ForeignKey& foreign : foreign_keys) {
    const auto& readers = foreign.readers;
    const std::string name = architecture.key(foreign.key);
    if (!metadata.has(name) || std::find(readers.begin(), readers.end(), architecture.name) != readers.end())
      continue;
    DRAFTSCOPE_TRY_ASSIGN(const auto value, metadata.number(name, {}));
    if (value != foreign.neutral)
      return metadata.wrong(name, fmt::format("{}: layers of {} are computed without {}", foreign.neutral,
                                              architecture.name, foreign.trait));
  }
  return {};
}

Result<void> read_granite(const Metadata& metadata, const Architecture& architecture, ModelShape& shape) {
  constexpr std::string_view finetuned = "rope.scaling.finetuned";
  DRAFTSCOPE_TRY_ASSIGN(const bool rotates, metadata.boolean_or(architecture.key(finetuned), true));
  if (!rotates) return metadata.wrong(architecture.key(finetuned), "true: all layers rotate");
  auto& traits = shape.traits;
  traits.attention_multiplier = 0.0;
  for (const auto& [name, multiplier] : {std::pair{"attention.scale", &traits.attention_multiplier},
                                         std::pair{"embedding_scale", &traits.embedding_multiplier},
                                         std::pair{"residual_scale", &traits.residual_multiplier}}) {
    DRAFTSCOPE_TRY_ASSIGN(*multiplier,
                          metadata.number_or(architecture.key(name), multiplier_range, *multiplier));
  }
  DRAFTSCOPE_TRY_ASSIGN(const double divisor,
                        metadata.number_or(architecture.key("logit_scale"), multiplier_range, 1.0));
  traits.logit_multiplier = 1.0 / divisor;
  return {};
}

/// Interval of layers without a window: stored as a number, or as a list that says which layers have one.
Result<std::int32_t> read_window_interval(const Metadata& metadata, const std::string& name,
                                          const ModelShape& shape) {
  const MetadataValue* const value = metadata.find(name);
  if (value == nullptr || !value->is_array)
    return metadata.integer_or(name, interval_range, shape.traits.full_attention_interval);
  DRAFTSCOPE_TRY_ASSIGN(std::vector<bool> layers, metadata.booleans(name));
  if (layers.size() != static_cast<std::size_t>(shape.n_layers))
    return metadata.wrong(name, fmt::format("one of {}, as many as layers", shape.n_layers));
  layers.flip();
  const auto interval = speculation::interval_of(layers);
  if (!interval) return metadata.wrong(name, "false for every n-th layer and true for the others");
  return *interval;
}

Result<void> read_gemma(const Metadata& metadata, const Architecture& architecture, ModelShape& shape) {
  const bool is_second = architecture.name == "gemma2";
  auto& traits = shape.traits;
  constexpr std::int32_t window_of_second = 4096;
  DRAFTSCOPE_TRY_ASSIGN(const auto window,
                        metadata.integer_or(architecture.key("attention.sliding_window"), window_range,
                                            is_second ? window_of_second : 0));
  DRAFTSCOPE_TRY_ASSIGN(
      const auto interval,
      read_window_interval(metadata, architecture.key("attention.sliding_window_pattern"), shape));
  const bool has_window = window > 0 && interval != 1;
  shape.sliding_window = has_window ? window : 0;
  traits.full_attention_interval = has_window ? interval : 0;
  DRAFTSCOPE_TRY_ASSIGN(traits.logit_cap, metadata.number_or(architecture.key("final_logit_softcapping"),
                                                             cap_range, traits.logit_cap));
  DRAFTSCOPE_TRY_ASSIGN(
      traits.attention_logit_cap,
      metadata.number_or(architecture.key("attn_logit_softcapping"), cap_range, traits.attention_logit_cap));
  // No converter writes the multiplier: the largest model of each generation is recognised by its number of
  // layers.
  constexpr std::int32_t layers_of_27b_second = 46;
  constexpr std::int32_t layers_of_27b_third = 62;
  const bool is_27b = shape.n_layers == (is_second ? layers_of_27b_second : layers_of_27b_third);
  if (shape.d_model < shape.n_heads)
    return metadata.wrong(architecture.key("embedding_length"),
                          fmt::format("at least the {} heads", shape.n_heads));
  const std::int32_t scalar = is_27b ? shape.d_model / shape.n_heads : shape.head_dim;
  DRAFTSCOPE_TRY_ASSIGN(traits.attention_multiplier,
                        metadata.number_or(architecture.key("attention.scale"), multiplier_range,
                                           1.0 / std::sqrt(static_cast<double>(scalar))));
  return {};
}

/// Reads windows of EXAONE 4. Layers without one do not rotate, unless no layer has one.
Result<void> read_exaone4(const Metadata& metadata, const Architecture& architecture, ModelShape& shape) {
  auto& traits = shape.traits;
  DRAFTSCOPE_TRY_ASSIGN(const auto window,
                        metadata.integer_or(architecture.key("attention.sliding_window"), window_range, 0));
  DRAFTSCOPE_TRY_ASSIGN(
      const auto interval,
      read_window_interval(metadata, architecture.key("attention.sliding_window_pattern"), shape));
  traits.no_rope_interval = window > 0 ? interval : 0;
  const bool has_window = window > 0 && interval != 1;
  shape.sliding_window = has_window ? window : 0;
  traits.full_attention_interval = has_window ? interval : 0;
  return {};
}

}  // namespace

Result<void> read_particulars(const Metadata& metadata, const Architecture& architecture, ModelShape& shape) {
  DRAFTSCOPE_TRY(check_nothing_foreign(metadata, architecture));
  if (architecture.name == "granite") return read_granite(metadata, architecture, shape);
  if (architecture.name == "gemma2" || architecture.name == "gemma3")
    return read_gemma(metadata, architecture, shape);
  if (architecture.name == "exaone4") return read_exaone4(metadata, architecture, shape);
  if (architecture.name == "phi3") {
    DRAFTSCOPE_TRY_ASSIGN(shape.sliding_window,
                          metadata.integer_or(architecture.key("attention.sliding_window"), window_range, 0));
  }
  return {};
}

}  // namespace draftscope::engine::gguf
