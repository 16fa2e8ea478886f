// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The place where a trace is to be written: what stands there, and what becomes of it.

#include <draftscope/base/result.h>
#include <filesystem>

namespace draftscope::traces {

/// Whether there is a file to be replaced; changes nothing. Errors: the name is empty; there is one and
/// replacing was not asked for; it is no regular file; beside it stands a file of a name that the new trace's
/// log would take, and it is not the old trace's own.
[[nodiscard]] Result<bool> look_at_target(const std::filesystem::path& path, bool overwrite);

/// Folds the log of the old trace, if it has one, into it: whoever comes after never takes it for the new
/// one's, and until the new one is there the old one keeps all its rows. Errors: as above; somebody else has
/// the old one open; it is damaged, or the disk is full.
[[nodiscard]] Result<void> fold_log_of_old(const std::filesystem::path& path);

}  // namespace draftscope::traces
