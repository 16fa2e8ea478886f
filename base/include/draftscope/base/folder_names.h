// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>

#include <filesystem>
#include <string>
#include <vector>

namespace draftscope {

/// Names in a folder except `.` and `..`, sorted, without the folder's path. Errors: it can't be read. Throws
/// std::bad_alloc, where the standard library's iteration would end the program.
[[nodiscard]] Result<std::vector<std::string>> folder_names(const std::filesystem::path& folder);

}  // namespace draftscope
