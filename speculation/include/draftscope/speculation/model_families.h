// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Families of models: one row per architecture (docs/recipes/add-a-model-family.md).

#include <draftscope/speculation/model_shape.h>
#include <cstdint>
#include <span>
#include <string_view>

namespace draftscope::speculation {

/// Facts about an architecture beyond config.json, from Hugging Face's configuration class and modelling
/// code.
struct ModelFamily {
  std::string_view architecture;  ///< Name in config.json's `architectures`.
  std::string_view model_type;    ///< Name in config.json's `model_type`.
  std::int32_t heads = 0;     ///< Default where the key is absent; 0 = the key is required, as with vocab.
  std::int32_t kv_heads = 0;  ///< Default where the key is absent; 0 = as many as query heads.
  std::int32_t head_dim = 0;  ///< Default where the key is absent; 0 = hidden_size / num_attention_heads.
  std::int32_t vocab = 0;
  std::int32_t max_positions = 0;  ///< Default where the key is absent.
  std::int32_t bos_token = -1;     ///< Default where the key is absent; -1 = none.
  std::int32_t eos_token = -1;     ///< Default where no file names one; -1 = none.
  bool tied_embeddings = false;    ///< Default where the key is absent.
  double rms_epsilon = 1e-6;       ///< Default where the key is absent.
  double theta = 10000.0;          ///< Default where the key is absent.
  double local_theta = 0.0;  ///< Default for layers with a window where the key is absent; 0 = as the others.
  bool rotates_partly = false;  ///< Whether its config.json may have partly rotated heads.
  /// Whether scaled frequencies concern only layers without a window.
  bool scales_full_layers = false;
  /// A key of its own in rope_scaling or rope_parameters; empty = none.
  std::string_view rope_key = {};
  /// Whether the decoder is one part of several: its fields are in `text_config`, its tensors have a prefix.
  bool nested = false;
  /// Traits of the class; an interval, cap or multiplier applies where config.json has none.
  ArchitectureTraits traits;
};

/// The table of families.
[[nodiscard]] std::span<const ModelFamily> model_families();

/// Finds a family by config.json's `architectures`; null if the table lacks it.
[[nodiscard]] const ModelFamily* find_architecture(std::string_view architecture);

/// Finds a family by config.json's `model_type`; null if the table lacks it.
[[nodiscard]] const ModelFamily* find_model_type(std::string_view model_type);

}  // namespace draftscope::speculation
