// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON of the files beside the weights, read strictly: one object, no repeated keys, bounded size.

#include <draftscope/result.h>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace draftscope::engine {

/// The object a JSON text holds. `file` only names the text in errors.
[[nodiscard]] Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file);

/// A whole regular file of at most `most_bytes`.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t most_bytes);

/// What a message says was found: a scalar as written, or "an array", "an object".
[[nodiscard]] std::string describe(const nlohmann::json& value);

}  // namespace draftscope::engine
