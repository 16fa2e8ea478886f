// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Families of models: one row an architecture (docs/recipes/add-a-model-family.md).

#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <span>
#include <string_view>

namespace draftscope::speculation {

/// Facts of an architecture beyond a config.json: those of Hugging Face's configuration class and modelling
/// code.
struct ModelFamily {
  std::string_view architecture;  ///< in config.json's `architectures`
  std::string_view model_type;    ///< its `model_type`
  std::int32_t heads = 0;         ///< where the key is absent; 0 = it must be there, as with vocab
  std::int32_t kv_heads = 0;      ///< where the key is absent; 0 = as many as query heads
  std::int32_t head_dim = 0;      ///< where the key is absent; 0 = hidden_size / num_attention_heads
  std::int32_t vocab = 0;
  std::int32_t max_positions = 0;  ///< where the key is absent
  std::int32_t bos_token = -1;     ///< where the key is absent; -1 = none
  std::int32_t eos_token = -1;     ///< where no file names one; -1 = none
  bool tied_embeddings = false;    ///< where the key is absent
  double rms_epsilon = 1e-6;       ///< where the key is absent
  double theta = 10000.0;          ///< where the key is absent
  double local_theta = 0.0;        ///< where the key is absent, of layers with a window; 0 = as the others
  bool rotates_partly = false;     ///< its config.json may have partly rotated heads
  /// The decoder is one part of several: its fields are in `text_config`, its tensors behind a prefix.
  bool nested = false;
  ArchitectureTraits traits;  ///< the class's; an interval, cap or multiplier where config.json has none
};

/// The table.
[[nodiscard]] std::span<const ModelFamily> model_families();

/// By config.json's `architectures`; null if the table lacks it.
[[nodiscard]] const ModelFamily* find_architecture(std::string_view architecture);

/// By config.json's `model_type`; null if the table lacks it.
[[nodiscard]] const ModelFamily* find_model_type(std::string_view model_type);

}  // namespace draftscope::speculation
