// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads recordings for the app: at once what a stored overview tells of them, then all rows by two threads
// with a connection each.

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

/// Nothing if the file stores no overview, or one that can't be read: then the rows tell all, as they do of
/// every file in the end.
[[nodiscard]] std::optional<LoadedRecording> read_overview(const std::filesystem::path& path,
                                                           const std::atomic<bool>& cancelled);

/// Called now and then with the work done and all that there is, by either thread.
using LoadProgress = std::function<void(std::int64_t done, std::int64_t all)>;

/// All of it. Errors: not a readable trace, unreadable tables, one line; something soon after `cancelled`
/// became true.
[[nodiscard]] Result<LoadedRecording> load_recording(const std::filesystem::path& path,
                                                     const std::atomic<bool>& cancelled,
                                                     const LoadProgress& progress);

}  // namespace draftscope::gui
