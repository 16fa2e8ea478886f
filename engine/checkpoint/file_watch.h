// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Watches files that are read through a mapping while others may shorten or change them, or their disk may
// fail. The system answers a read of a missing page with SIGBUS, which ends a program. Here such pages become
// zeros, and the reader checks afterwards whether any page was lost. The request then fails with one line,
// and everything recorded before it stays.

#include <draftscope/base/result.h>
#include <cstddef>
#include <filesystem>
#include <span>

namespace draftscope::engine {

struct WatchedFile;

/// Watches one mapping for the lifetime of this object. Instances may be used from different threads.
class FileWatch {
 public:
  /// `bytes` is the mapping of the open file `descriptor`, which this object takes over.
  FileWatch(std::span<const std::byte> bytes, const std::filesystem::path& path, int descriptor);
  FileWatch(FileWatch&& other) noexcept;
  FileWatch& operator=(FileWatch&& other) noexcept;
  ~FileWatch();

 private:
  WatchedFile* file_;
};

/// Fails if a page of any currently watched file could not be read; the page has read as zeros since then.
/// Costs one atomic load as long as all is well.
[[nodiscard]] Result<void> check_watched_files();

/// Does what check_watched_files() does, and also fails if a file's size or modification time differs. Costs
/// one system call per file.
[[nodiscard]] Result<void> check_watched_files_unchanged();

}  // namespace draftscope::engine
