// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SHA-256 digests, which identify a recording that was trained on, and reveal later edits of a prediction.
// Whoever stores the digest elsewhere (in a paper, a mail, a commit) can tell that a prediction is unchanged.
// The file alone can't, since anybody can compute a digest anew.

#include <draftscope/base/result.h>
#include <filesystem>
#include <string>
#include <string_view>

namespace draftscope {

/// Digest of bytes, as "sha256:" and 64 hexadecimal digits.
[[nodiscard]] std::string sha256_of(std::string_view bytes);
/// Digest of a file's bytes. Errors: it can't be read.
[[nodiscard]] Result<std::string> sha256_of_file(const std::filesystem::path& path);

}  // namespace draftscope
