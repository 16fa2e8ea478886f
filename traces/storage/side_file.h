// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that SQLite keeps beside a database: write-ahead log, its index, rollback journal.

#include <filesystem>

namespace draftscope::traces {

inline constexpr const char* side_file_suffixes[] = {"-wal", "-shm", "-journal"};

[[nodiscard]] inline std::filesystem::path side_file(std::filesystem::path path, const char* suffix) {
  path += suffix;
  return path;
}

/// Removes them, as far as they are there. Needs no memory.
void remove_side_files(const std::filesystem::path& path) noexcept;

}  // namespace draftscope::traces
