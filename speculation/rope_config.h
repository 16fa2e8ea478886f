// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/json_field.h>
#include <draftscope/speculation/model_shape.h>

namespace draftscope::speculation {

/// `rope_scaling` with `rope_theta` beside it, or transformers 5's `rope_parameters`.
[[nodiscard]] Result<RopeScaling> parse_rope(const JsonField& config, std::int32_t max_positions);

}  // namespace draftscope::speculation
