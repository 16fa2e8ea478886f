// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Limits of JSON texts of unknown source. nlohmann-json copies, compares and prints values level by level on
// the stack, and a value may need a hundred times the bytes that it is written in. These functions look at
// brackets and separators alone, before the text is parsed; whether it is JSON at all is the parser's
// question.

#include <draftscope/base/result.h>
#include <cstddef>
#include <string_view>

namespace draftscope {

inline constexpr std::size_t max_json_depth = 128;

/// Whether it is no JSON array or object that is deeper than max_json_depth.
[[nodiscard]] bool is_shallow_json(std::string_view text);

/// Call it before a text is parsed. `file` is only used in errors. Errors: a zero byte, brackets that nest
/// deeper than max_json_depth, values that need more than 512 MiB of memory.
[[nodiscard]] Result<void> check_json_text(std::string_view text, std::string_view file);

}  // namespace draftscope
