// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a command is to write, looked at before it reads or writes anything: a name that would lose the result
// or destroy something else is refused while nothing has been done yet.

#include <draftscope/base/result.h>
#include <filesystem>
#include <span>

namespace draftscope {

struct OutputRules {
  /// Files that the command reads, and folders whose files it reads; those that are not there are no
  /// obstacle.
  std::span<const std::filesystem::path> inputs;
  bool overwrite = false;
};

/// Refuses a file that can't be written whole in its place: an empty name, one that SQLite takes for no file
/// (":memory:", "file:…"), one in a folder that is not there or can't be written to, a folder, a device, a
/// pipe, a file that is an input whatever its name (same device and inode), an existing file unless it may be
/// overwritten.
[[nodiscard]] Result<void> check_output_file(const std::filesystem::path& target, const OutputRules& rules);

/// The same of a folder that several files are written into; an empty one may be there.
[[nodiscard]] Result<void> check_output_folder(const std::filesystem::path& target, const OutputRules& rules);

}  // namespace draftscope
