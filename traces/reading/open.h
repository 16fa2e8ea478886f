// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opens somebody's trace for reading without changing it.

#include <draftscope/base/result.h>
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
  TemporaryFolder(TemporaryFolder&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~TemporaryFolder();
  [[nodiscard]] std::filesystem::path path() const { return name_; }

 private:
  std::string name_;  // no path, which needs memory to take a name
};

/// Identity, size and time of change of a file: whether it is still what it was when it was opened.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< 0 = not known
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
};

/// Members go in reverse order: the connection before the copy that it reads.
struct OpenTrace {
  std::filesystem::path path;
  FileState state;            ///< of a file that is read itself, and not a copy
  bool is_immutable = false;  ///< nobody is to change the file; else it may grow
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

/// Whether what was read is what was opened. A file that took the place of this one does not matter: this one
/// stays open. Error: this one was cut short, or, without a log, changed in any way.
[[nodiscard]] Result<void> check_unchanged(const OpenTrace& trace);

}  // namespace draftscope::traces
