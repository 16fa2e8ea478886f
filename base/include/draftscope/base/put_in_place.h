// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The last steps of a file that appears whole or not at all: it is synced, renamed, and its folder synced.

#include <draftscope/base/result.h>
#include <filesystem>

namespace draftscope {

/// Waits until the file is on disk. Errors: it can't be opened; the disk could not take it.
[[nodiscard]] Result<void> sync_file(const std::filesystem::path& file);

enum class Replacing { allowed, refused };

/// Renames `file` to `target`, in the same folder, and waits until that is on disk. Errors: `target` exists
/// and may not be replaced (file systems that can't tell replace it); it can't be renamed. They name
/// `target`.
[[nodiscard]] Result<void> put_in_place(const std::filesystem::path& file,
                                        const std::filesystem::path& target, Replacing replacing);

}  // namespace draftscope
