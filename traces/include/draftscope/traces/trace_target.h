// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The place where a trace is to be written, looked at before anything is read or computed for it.

#include <draftscope/base/output_file.h>
#include <draftscope/base/result.h>
#include <filesystem>

namespace draftscope::traces {

/// Refuses what check_output_file() does, and a name whose log would take the place of somebody's file
/// (NAME-wal, NAME-shm, NAME-journal). Changes nothing.
[[nodiscard]] Result<void> check_trace_target(const std::filesystem::path& target, const OutputRules& rules);

}  // namespace draftscope::traces
