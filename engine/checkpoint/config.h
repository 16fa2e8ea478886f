// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// config.json and generation_config.json → ModelShape. Defaults are those of Hugging Face's configuration
// classes.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <optional>
#include <string_view>

#include "config_fields.h"

namespace draftscope::engine {

struct ConfigText {
  std::string_view text;
  std::string_view file;  ///< names it in errors
};

/// The shape without its name. End tokens are those of both files; the architecture's default end token holds
/// only if neither file names one.
[[nodiscard]] Result<speculation::ModelShape> parse_config(ConfigText config,
                                                           std::optional<ConfigText> generation);

/// `rope_scaling` with `rope_theta` beside it, or transformers 5's `rope_parameters`.
[[nodiscard]] Result<speculation::RopeScaling> parse_rope(const ConfigFields& config,
                                                          std::int32_t max_positions);

/// Whether the numbers of a shape fit together, however it was made. `source` names it in errors.
[[nodiscard]] Result<void> check_shape(const speculation::ModelShape& shape, std::string_view source);

}  // namespace draftscope::engine
