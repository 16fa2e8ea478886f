// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Command lines as a POSIX shell reads them.

#include <draftscope/base/result.h>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::gui {

/// Text in single quotes, which a shell takes literally.
[[nodiscard]] std::string quoted_word(std::string_view text);

/// Words with spaces between, in quotes where a shell would read something else without.
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

/// The words of a line: quotes of both kinds and backslashes as in a shell, no variables and no patterns. A
/// backslash before a line's end goes on. Errors: a quote or a backslash that nothing follows.
[[nodiscard]] Result<std::vector<std::string>> shell_words(std::string_view line);

}  // namespace draftscope::gui
