// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Python's json module writes three numbers that JSON lacks: NaN, Infinity and -Infinity.

#include <draftscope/base/result.h>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace draftscope {

/// Form of a NaN that is the value of a field.
enum class PythonNaN : std::uint8_t {
  text,    ///< A text, which a reader of the field refuses.
  missing  ///< Null: the field is missing.
};

/// Whether one of the words occurs anywhere in the text.
[[nodiscard]] bool has_python_numbers(std::string_view text);

/// The text in JSON's own words. Infinities, and NaN in a list, become texts, which readers refuse by field.
[[nodiscard]] std::string without_python_numbers(std::string_view text, PythonNaN nan);

/// Parses one JSON value of unknown source, in which Python's numbers may stand. `name` begins errors.
/// Errors: as check_json_text(); a text that is no JSON, which names the byte; a number that is too large.
[[nodiscard]] Result<nlohmann::json> parse_python_json(std::string_view text, std::string_view name,
                                                       PythonNaN nan);

}  // namespace draftscope
