// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SQLite handles that close themselves, its errors as one line, and the files that it creates next to a
// database: write-ahead log, its index, rollback journal.

#include <draftscope/base/result.h>

#include <sqlite3.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace draftscope::traces {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// SQLite's message for its last failure: "disk I/O error (code 778)", with errno's message if there is one.
[[nodiscard]] std::string sqlite_error(sqlite3* database);

/// Whether the last failure came from the file's content. Otherwise memory, room for temporary files, the
/// disk or a lock was lacking, or somebody interrupted it, which says nothing about the file.
[[nodiscard]] bool is_damage(sqlite3* database);

[[nodiscard]] Result<Statement> prepare(sqlite3* database, const std::string& name, std::string_view sql);

/// Runs statements that give no rows, or whose rows do not matter.
[[nodiscard]] Result<void> execute(sqlite3* database, const std::string& name, const std::string& sql);

/// Returns the first column of the first row.
[[nodiscard]] Result<std::int64_t> query_integer(sqlite3* database, const std::string& name,
                                                 std::string_view sql);
[[nodiscard]] Result<std::string> query_text(sqlite3* database, const std::string& name,
                                             std::string_view sql);

/// The bytes of a column of text or blob; empty for NULL.
[[nodiscard]] std::string_view column_bytes(sqlite3_stmt* statement, int column);

inline constexpr const char* side_file_suffixes[] = {"-wal", "-shm", "-journal"};

[[nodiscard]] inline std::filesystem::path side_file(std::filesystem::path path, const char* suffix) {
  path += suffix;
  return path;
}

/// Removes the side files that exist. Needs no memory.
void remove_side_files(const std::filesystem::path& path) noexcept;

/// Steps of SQLite's virtual machine between two calls of a progress handler.
inline constexpr int steps_per_look = 100'000;

/// Limits the work that a damaged file can cause. A b-tree with shared pages can contain exponentially many
/// rows in a small file; an honest one never needs more than some instructions per byte.
struct WorkBudget {
  std::int64_t steps_left = 0;
  std::int64_t steps = 0;                      ///< Maximum steps per statement.
  const std::atomic<bool>* stopped = nullptr;  ///< Ends a statement from outside.

  /// Limit for a file of this many bytes, at least 20 million steps.
  [[nodiscard]] static std::int64_t steps_for(std::uint64_t bytes, std::int64_t steps_per_byte);
};

/// Opens a file for reading only; `query` is SQLite's URI query ("mode=ro&immutable=1"). Errors do not name
/// the file.
[[nodiscard]] Result<Database> open_untrusted(const std::filesystem::path& path, std::string_view query);

/// Applies the settings that every connection to an untrusted file needs: its schema is not trusted, no value
/// is longer than 256 MiB.
void distrust(sqlite3* database);

/// Ends the database's statements once the budget is used up. The budget must outlive the database.
void bound_work(sqlite3* database, WorkBudget& budget);

}  // namespace draftscope::traces
