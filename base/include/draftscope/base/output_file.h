// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checks of a command's output before it reads or writes anything. A name that would lose the result or
// destroy something else is refused before any work is done.

#include <draftscope/base/result.h>
#include <filesystem>
#include <span>

namespace draftscope {

struct OutputRules {
  /// Files that the command reads, and folders whose files it reads; missing ones are ignored.
  std::span<const std::filesystem::path> inputs;
  bool overwrite = false;
};

/// Refuses a target that can't be written as a complete file. These are an empty name, a name that SQLite
/// does not take for a file (":memory:", "file:…"), and one in a missing or unwritable folder. Also a folder,
/// a device, a pipe, an input under any name (same device and inode), and an existing file that may not be
/// overwritten.
[[nodiscard]] Result<void> check_output_file(const std::filesystem::path& target, const OutputRules& rules);

/// Checks a folder for several output files like check_output_file() checks a file; it may exist if it is
/// empty.
[[nodiscard]] Result<void> check_output_folder(const std::filesystem::path& target, const OutputRules& rules);

}  // namespace draftscope
