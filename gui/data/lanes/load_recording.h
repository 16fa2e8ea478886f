// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads recordings for the app: first the stored overview, then all rows by two threads with one connection
// each.

#include <draftscope/base/result.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

struct LoadedRecording {
  RecordingPointer recording;
  std::shared_ptr<const Timeline> timeline;
};

/// For readings that nobody cancels.
inline const std::atomic<bool> never_cancelled{false};

/// Empty if the file stores no overview, or one that can't be read. The rows, which are read from every file
/// later, then give everything.
[[nodiscard]] std::optional<LoadedRecording> read_overview(
    const std::filesystem::path& path, const std::atomic<bool>& cancelled = never_cancelled);

/// Called repeatedly with the finished and the total work, by either thread.
using LoadProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// Reads the whole recording. Errors, one line: not a readable trace, unreadable tables. Returns some error
/// soon after `cancelled` became true.
[[nodiscard]] Result<LoadedRecording> load_recording(const std::filesystem::path& path,
                                                     const std::atomic<bool>& cancelled = never_cancelled,
                                                     const LoadProgress& progress = {});

}  // namespace draftscope::gui
