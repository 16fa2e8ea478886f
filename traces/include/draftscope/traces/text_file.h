// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/result.h>
#include <filesystem>
#include <string>

namespace draftscope::traces {

/// A whole file. Errors: a folder, a file that can't be read.
[[nodiscard]] Result<std::string> read_text_file(const std::filesystem::path& path);

}  // namespace draftscope::traces
