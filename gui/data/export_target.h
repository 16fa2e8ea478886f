// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where something may be written. Files are written beside their place and renamed into it, which would put
// an end to a device or a pipe that stands there, instead of writing to it.

#include <draftscope/result.h>
#include <filesystem>

namespace draftscope::gui {

/// Errors: something is there that is no regular file.
[[nodiscard]] Result<void> check_target(const std::filesystem::path& path);

}  // namespace draftscope::gui
