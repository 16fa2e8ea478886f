// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opens somebody's trace for reading without changing it.

#include <draftscope/base/result.h>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/untrusted.h"

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
