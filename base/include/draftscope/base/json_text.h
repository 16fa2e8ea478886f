// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON texts: untrusted ones read with errors that name the file, and documents as they are printed.

#include <draftscope/base/result.h>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace draftscope {

/// The object a JSON text holds. `file` only names the text in errors. Errors: not JSON, a key that occurs
/// twice, not an object.
[[nodiscard]] Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file);

/// A value as a message says it was found: a scalar as written, or "an array", "an object".
[[nodiscard]] std::string describe(const nlohmann::json& value);

/// The document indented by two, keys in their order, text that is not UTF-8 replaced, ended by a newline.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

}  // namespace draftscope
