// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opens somebody's trace for reading without changing it.

#include <draftscope/base/result.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/database.h"

namespace draftscope::traces {

/// A folder of our own that goes with its contents.
class TemporaryFolder {
 public:
  [[nodiscard]] static Result<TemporaryFolder> create();
  TemporaryFolder() = default;
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Bounds the work that a damaged file can cause. A b-tree whose pages are shared can hold exponentially many
/// rows in a small file; an honest one never needs more than some instructions a byte.
struct WorkBudget {
  std::int64_t steps_left = 0;
  std::int64_t steps = 0;                      ///< of each statement
  const std::atomic<bool>* stopped = nullptr;  ///< ends a statement from outside
};

/// Members go in reverse order: the connection before the copy that it reads.
struct OpenTrace {
  std::filesystem::path path;
  TemporaryFolder copy;
  std::unique_ptr<WorkBudget> budget;
  Database database;
  int schema_version = 0;
};

/// Without a write-ahead log beside it the file is opened as immutable: no lock, no file made, fine on a
/// read-only medium. With one (a recording that is going on, or that a crash cut off) it is opened read-only
/// through SQLite's log; where that can't be (a read-only folder without the log's index, a rollback journal)
/// a temporary copy of the files is read.
[[nodiscard]] Result<OpenTrace> open_trace(const std::filesystem::path& path);

}  // namespace draftscope::traces
