// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The shapes of published models, from models/models.csv, which the build embeds.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <string_view>

namespace draftscope::engine {

/// The row of that name, case-insensitive; an unknown name's error lists the closest ones. What the table
/// lacks (rotary base and scaling, context length, epsilon, sliding window) comes from the family, as its
/// published config.json has it. No end tokens; the first token is 0.
[[nodiscard]] Result<speculation::ModelShape> published_shape(std::string_view name);

}  // namespace draftscope::engine
