// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Whole files as text.

#include <draftscope/base/result.h>
#include <cstddef>
#include <filesystem>
#include <string>

namespace draftscope {

/// A whole file. Errors: a folder, a file that can't be read.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

/// A whole regular file of at most `max_bytes`. Errors: no such file, another kind of file, a larger one.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path, std::size_t max_bytes);

}  // namespace draftscope
