// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that are read through a mapping while others may shorten or change them, or their disk may fail. The
// system answers a read of a page that is gone with SIGBUS, which ends a program. Here such pages become
// zeros, and their user asks afterwards whether they were there: the request fails with one line, and
// what was recorded before it stays.

#include <draftscope/base/result.h>
#include <cstddef>
#include <filesystem>
#include <span>

namespace draftscope::engine {

struct WatchedFile;

/// One mapping under watch for as long as this lives. Thread-safe against others.
class FileWatch {
 public:
  /// `bytes` is the mapping of the open file `descriptor`, which this takes over.
  FileWatch(std::span<const std::byte> bytes, const std::filesystem::path& path, int descriptor);
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&& other) noexcept;
  ~FileWatch();

 private:
  WatchedFile* file_;
};

/// Fails once a page of a watched file could not be read: since then it reads as zeros. Of all files that are
/// mapped now; one atomic load while all is well.
[[nodiscard]] Result<void> check_watched_files();

/// Does what check_watched_files() does, and fails on a file whose size or time of change differs: a system
/// call a file.
[[nodiscard]] Result<void> check_watched_files_unchanged();

}  // namespace draftscope::engine
