// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/json_field.h>
#include <draftscope/speculation/model_families.h>
#include <draftscope/speculation/model_shape.h>

namespace draftscope::speculation {

/// `rope_scaling` with `rope_theta` beside it, or transformers 5's `rope_parameters`. Of `shape`, head_dim
/// and max_positions are read.
[[nodiscard]] Result<RopeScaling> parse_rope(const JsonField& config, const ModelFamily& family,
                                             const ModelShape& shape);

}  // namespace draftscope::speculation
