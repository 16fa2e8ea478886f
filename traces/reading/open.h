// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Opens another program's trace for reading without changing it.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "storage/database.h"

namespace draftscope::traces {

/// A private folder that is deleted with its contents.
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
  std::string name_;  // not a path, which needs memory to take a name
};

/// Identity, size and modification time of a file, which tell whether it changed since it was opened.
struct FileState {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< Inode number; 0 = not known.
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
};

/// An open trace. Members are destroyed in reverse order: the connection before the copy that it reads.
struct OpenTrace {
  std::filesystem::path path;
  FileState state;            ///< State of a file that is read directly rather than as a copy.
  bool is_immutable = false;  ///< Whether nobody may change the file; otherwise it may grow.
  TemporaryFolder copy;
  std::unique_ptr<WorkBudget> budget;
  Database database;
  int schema_version = 0;
};

/// Opens a trace. Without a write-ahead log the file is opened as immutable: no lock, no file created, fine
/// on a read-only medium. With one (a recording in progress, or cut off by a crash) it is opened read-only
/// through SQLite's log. Where that fails (a read-only folder without the log's index, a rollback journal) a
/// temporary copy of the files is read.
[[nodiscard]] Result<OpenTrace> open_trace(const std::filesystem::path& path);

/// Checks that the file that was read is still the one that was opened. Another file in its place does not
/// matter, since this one stays open. Error: this one was cut short, or, without a log, changed in any way.
[[nodiscard]] Result<void> check_unchanged(const OpenTrace& trace);

}  // namespace draftscope::traces
