// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The place where a trace is to be written: checks for an existing file and prepares its replacement.

#include <draftscope/base/result.h>
#include <filesystem>

namespace draftscope::traces {

/// Whether there is a file to be replaced; changes nothing. Errors: the name is empty; a file exists and
/// replacing was not requested; it is no regular file; a side file has the name of the new trace's log, and
/// it does not belong to the old trace.
[[nodiscard]] Result<bool> look_at_target(const std::filesystem::path& path, bool overwrite);

/// Merges the log of the old trace, if it has one, into it. Then nobody mistakes it for the new one's, and
/// until the new trace exists the old one keeps all its rows. Errors: as above; somebody else has the old one
/// open; it is damaged, or the disk is full.
[[nodiscard]] Result<void> fold_log_of_old(const std::filesystem::path& path);

}  // namespace draftscope::traces
