// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads config.json and generation_config.json into a ModelShape. Defaults are those of Hugging Face's
// configuration classes (model_families.h).

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <optional>
#include <string_view>

namespace draftscope::speculation {

struct ConfigText {
  std::string_view text;
  std::string_view file;  ///< File name for errors.
};

/// Parses the shape of a model that is to run, without its name. End tokens come from both files; the
/// family's default end token applies only if neither file names one. Errors: an unknown family, a part of
/// one that is not supported or contradicts another, a field that is missing or out of its range.
[[nodiscard]] Result<ModelShape> parse_model_config(ConfigText config,
                                                    std::optional<ConfigText> generation = std::nullopt);

/// Parses only the model's sizes, which are sufficient for prices. It takes any family that writes them under
/// Llama's keys, whether a backend runs it or not. The shape's name is the file's.
/// Errors: mixture of experts, latent attention, layers that are no attention, an encoder; an architecture or
/// model_type that the table of families lacks (a file that names neither is read as Llama's); a size that is
/// missing or out of its range.
[[nodiscard]] Result<ModelShape> parse_model_sizes(ConfigText config);

}  // namespace draftscope::speculation
