// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A model's shape inside traces, calibrations, predictions and policies.

#include <draftscope/base/json_field.h>
#include <draftscope/base/result.h>
#include <draftscope/speculation/model_shape.h>
#include <string>
#include <string_view>

namespace draftscope::speculation {

/// The metadata entry `model_shape` of a recording: shape_sizes and further facts about the architecture.
[[nodiscard]] std::string recorded_shape_json(const ModelShape& shape);

/// Parses recorded_shape_json(), without a name; fields other than shape_sizes may be absent. `source` names
/// the text in errors. Errors: not a JSON object, a size that is missing, sizes that do not fit together.
[[nodiscard]] Result<ModelShape> parse_recorded_shape(std::string_view text, std::string_view source);

/// A JSON object with the name and shape_sizes, and `gated_mlp` where it is false.
[[nodiscard]] nlohmann::ordered_json named_sizes_json(const ModelShape& shape);

/// Parses named_sizes_json(); `field` is the object, which may have further members.
[[nodiscard]] Result<ModelShape> parse_named_sizes(const JsonField& field);

}  // namespace draftscope::speculation
