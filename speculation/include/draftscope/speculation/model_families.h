// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Families of models: one row an architecture (docs/recipes/add-a-model-family.md).

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace draftscope::speculation {

/// Facts of an architecture beyond a config.json: those of Hugging Face's configuration class and modelling
/// code.
struct ModelFamily {
  std::string_view architecture;   ///< in config.json's `architectures`
  std::string_view model_type;     ///< its `model_type`
  std::int32_t kv_heads = 0;       ///< where the key is absent; 0 = as many as query heads
  std::int32_t head_dim = 0;       ///< where the key is absent; 0 = hidden_size / num_attention_heads
  std::int32_t max_positions = 0;  ///< where the key is absent
  std::int32_t bos_token = -1;     ///< where the key is absent; -1 = none
  std::int32_t eos_token = -1;     ///< where no file names one; -1 = none
  bool tied_embeddings = false;    ///< where the key is absent
  ArchitectureTraits traits;       ///< the class's; an interval, cap or multiplier where config.json has none
};

/// The table, supported families first.
[[nodiscard]] std::span<const ModelFamily> model_families();

/// By config.json's `architectures`; null if the table lacks it.
[[nodiscard]] const ModelFamily* find_architecture(std::string_view architecture);

/// By config.json's `model_type`; null if the table lacks it.
[[nodiscard]] const ModelFamily* find_model_type(std::string_view model_type);

/// The first trait that no backend computes yet, as a message names it: "logit soft-capping". None if every
/// backend runs a model of these traits.
[[nodiscard]] std::optional<std::string_view> unsupported_trait(const ArchitectureTraits& traits);

/// Error: "`source`: model_type gemma2: logit soft-capping is not supported by a backend yet".
[[nodiscard]] Result<void> check_supported(const ModelFamily& family, std::string_view source);

}  // namespace draftscope::speculation
