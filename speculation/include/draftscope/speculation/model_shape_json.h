// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model's shape inside traces, calibrations, predictions and policies.

#include <draftscope/base/json_field.h>
#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <string>
#include <string_view>

namespace draftscope::speculation {

/// The meta `model_shape` of a recording: shape_sizes and what else of the architecture a reader may want.
[[nodiscard]] std::string recorded_shape_json(const ModelShape& shape);

/// The same read back, without a name; fields beside shape_sizes may be absent. `source` names the text in
/// errors: not a JSON object, a size that is missing, sizes that do not fit together.
[[nodiscard]] Result<ModelShape> parse_recorded_shape(std::string_view text, std::string_view source);

/// The name and shape_sizes.
[[nodiscard]] nlohmann::ordered_json named_sizes_json(const ModelShape& shape);

/// The same read back; `field` is the object that has them, which may have more.
[[nodiscard]] Result<ModelShape> parse_named_sizes(const JsonField& field);

}  // namespace draftscope::speculation
