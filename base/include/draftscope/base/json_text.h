// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON texts: parsing of untrusted ones with errors that name the file, and printing of documents.

#include <draftscope/base/result.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace draftscope {

/// Object in a JSON text. `file` is only used in errors. Errors: not JSON, a repeated key, not an object.
[[nodiscard]] Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file);

/// Description of a value for a message: a scalar as written, or "an array", "an object".
[[nodiscard]] std::string describe(const nlohmann::json& value);

/// Document indented by two, with keys in their order, invalid UTF-8 replaced, and a newline at the end.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace draftscope
