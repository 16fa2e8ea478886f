// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Command lines as a POSIX shell reads them.

#include <draftscope/base/result.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope {

/// Text in single quotes, which a shell takes literally.
[[nodiscard]] std::string quoted_word(std::string_view text);

/// Words separated by spaces, in quotes where a shell would misread them.
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

/// Splits a line into words: quotes of both kinds and backslashes work as in a shell, but no variables and no
/// patterns. A backslash before a line's end continues the line. Errors: an unclosed quote or a final
/// backslash.
[[nodiscard]] Result<std::vector<std::string>> shell_words(std::string_view line);

}  // namespace draftscope
