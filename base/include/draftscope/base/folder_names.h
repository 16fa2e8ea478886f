// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>

#include <filesystem>
#include <string>
#include <vector>

namespace draftscope {

/// Names in a folder but `.` and `..`, sorted, without the folder's own. An error where it can't be read.
/// std::bad_alloc is thrown on, where the standard library's iteration of a folder ends the program.
[[nodiscard]] Result<std::vector<std::string>> folder_names(const std::filesystem::path& folder);

}  // namespace draftscope
