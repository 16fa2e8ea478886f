// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SHA-256, by which what was learnt from a recording names it, and a prediction shows later edits. Who keeps
// the digest elsewhere (in a paper, a mail, a commit) can tell that a prediction was not changed; the file
// alone can't, because anybody can compute a digest anew.

#include <draftscope/base/result.h>
#include <filesystem>
#include <string>
#include <string_view>

namespace draftscope {

/// "sha256:" and 64 hexadecimal digits.
[[nodiscard]] std::string sha256_of(std::string_view bytes);
/// SHA-256 of a file's bytes. Errors: it can't be read.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace draftscope
