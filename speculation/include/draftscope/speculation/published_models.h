// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The table of published models, models/models.csv, which the build embeds. Fields that it lacks (rotary base
// and scaling, context length, epsilon, sliding window) come from each series' published config.json. No end
// tokens; the first token is 0. All functions are thread-safe.

#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::speculation {

/// Every shape of the table, in its order. Errors: a table that does not parse.
[[nodiscard]] Result<std::vector<ModelShape>> known_model_shapes();

/// Finds a model by the table's name or its Hugging Face id, as comparable_name() compares. None: not in the
/// table.
[[nodiscard]] Result<std::optional<ModelShape>> published_model(std::string_view name);

/// Finds a model like published_model(), but an unknown name is an error that lists the closest ones.
[[nodiscard]] Result<ModelShape> find_model_shape(std::string_view name);

/// The table's names nearest to `name`, joined by commas.
[[nodiscard]] Result<std::string> closest_models(std::string_view name);

}  // namespace draftscope::speculation
