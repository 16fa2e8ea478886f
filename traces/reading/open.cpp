// SPDX-License-Identifier: GPL-3.0-or-later
#include "reading/open.h"

#include <draftscope/base/atomic_folder.h>
#include <draftscope/base/text_file.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "storage/database.h"
#include "storage/schema.h"
#include "storage/tables.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

// Work limit of a statement: the most demanding rule of validate() needs below 100 steps per row, and a row
// has at least ten bytes.
constexpr std::int64_t steps_per_byte = 200;

std::uint64_t size_or_zero(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : size;
}

FileState state_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  constexpr std::int64_t ns_per_s = 1'000'000'000;
  return {status.st_dev, status.st_ino, status.st_size,
          ns_per_s * status.st_mtim.tv_sec + status.st_mtim.tv_nsec};
}

Result<void> check_header(const fs::path& path) {
  const std::string name = path.string();
  DRAFTSCOPE_TRY(check_regular_file(path));
  const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail("{}: can't be read: {}", name, std::strerror(errno));
  std::array<char, 100> header{};
  const ssize_t bytes = ::read(file, header.data(), header.size());
  ::close(file);
  constexpr std::string_view magic("SQLite format 3\0", 16);
  // SQLite never gets an empty file, because it would delete a log next to one.
  if (bytes == 0) return fail("{}: found an empty file, expected a trace", name);
  if (bytes != static_cast<ssize_t>(header.size()) || std::string_view(header.data(), 16) != magic)
    return fail("{}: found no SQLite header, expected a trace", name);
  return {};
}

Result<Database> connect(const fs::path& path, std::string_view query) {
  DRAFTSCOPE_TRY_ASSIGN(Database database, open_untrusted(path, query));
  sqlite3* const handle = database.get();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_busy_timeout(handle, 1000);
  // One snapshot serves as long as the file is open. In a recording in progress, the rounds that a later
  // statement sees then have the requests that an earlier one saw. The snapshot begins with the first page
  // read, which reveals a problem with the log.
  DRAFTSCOPE_TRY(execute(handle, "", "BEGIN;"));
  DRAFTSCOPE_TRY(query_integer(handle, "", "PRAGMA schema_version"));
  DRAFTSCOPE_TRY(query_integer(handle, "", "SELECT count(*) FROM sqlite_schema"));
  return database;
}

Result<Database> connect_to_copy(const fs::path& path, TemporaryFolder& folder) {
  DRAFTSCOPE_TRY_ASSIGN(folder, TemporaryFolder::create());
  const fs::path copy = folder.path() / "copy.dstrace";
  std::error_code error;
  fs::copy_file(path, copy, error);
  for (const char* const suffix : {"-wal", "-journal"})
    if (!error && fs::exists(side_file(path, suffix)))
      fs::copy_file(side_file(path, suffix), side_file(copy, suffix), error);
  if (error) return fail("can't be copied to {}: {}", folder.path().string(), error.message());
  // The copy is private: opened for writing once, SQLite rolls a journal back and merges the log into it.
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(copy.string().c_str(), &handle, SQLITE_OPEN_READWRITE, nullptr);
  const Database recovering(handle);
  if (code != SQLITE_OK) return fail("{}", sqlite_error(handle));
  DRAFTSCOPE_TRY(query_integer(handle, "", "SELECT count(*) FROM sqlite_schema"));
  return connect(copy, "mode=ro");
}

Result<void> check_table(sqlite3* database, const std::string& name, int version, std::string_view table,
                         const std::vector<StoredColumn>& columns) {
  DRAFTSCOPE_TRY_ASSIGN(
      const std::int64_t tables,
      query_integer(database, name,
                    fmt::format("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                                "type = 'table' AND name = '{}'",
                                table)));
  if (tables != 1) return fail("{}: found no table {}, expected a whole trace", name, table);
  for (const StoredColumn& column : columns) {
    if (!has_column(version, table, column.name)) continue;
    DRAFTSCOPE_TRY_ASSIGN(
        const std::string found,
        query_text(
            database, name,
            fmt::format("SELECT coalesce((SELECT type FROM pragma_table_info('{}') WHERE name = '{}'), "
                        "'nothing')",
                        table, column.name)));
    if (found != column.type)
      return fail("{}: table {}: column {} is {}, expected {}", name, table, column.name, found, column.type);
  }
  return {};
}

Result<void> check_tables(sqlite3* database, const std::string& name, int version) {
  DRAFTSCOPE_TRY(check_table(database, name, version, "meta", {{"key", "TEXT"}, {"value", "TEXT"}}));
  return try_each_table([&]<typename Record>(const Table<Record>& /*table*/) {
    return check_table(database, name, version, table_name<Record>, stored_columns<Record>());
  });
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return fail("no folder for temporary files: {}", error.message());
  TemporaryFolder folder;
  std::string pattern = (parent / "draftscope-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return fail("no temporary folder in {}: {}", parent.string(), std::strerror(errno));
  folder.name_ = std::move(pattern);
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  if (!name_.empty()) remove_folder_of_files(name_.c_str());
}

Result<OpenTrace> open_trace(const fs::path& path) {
  DRAFTSCOPE_TRY(check_header(path));
  const std::string name = path.string();
  OpenTrace trace;
  trace.path = path;
  std::error_code error;
  // Even an empty log counts, since a recording that has just begun is going to change the file.
  const bool has_log = fs::exists(side_file(path, "-wal"), error);
  const bool has_journal = size_or_zero(side_file(path, "-journal")) > 0;
  trace.state = state_of(path);
  trace.is_immutable = !has_log && !has_journal;
  Result<Database> database;
  if (trace.is_immutable)
    database = connect(path, "mode=ro&immutable=1");
  else if (!has_journal)
    database = connect(path, "mode=ro");
  if (has_journal || (has_log && !database)) {
    database = connect_to_copy(path, trace.copy);
    trace.state = {};
  }
  if (!database) return fail("{}: can't be read as a trace: {}", name, database.error().message);
  trace.database = std::move(*database);

  sqlite3* const handle = trace.database.get();
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t id, query_integer(handle, name, "PRAGMA application_id"));
  if (id == 0) {
    DRAFTSCOPE_TRY_ASSIGN(const std::int64_t found_tables,
                          query_integer(handle, name, "SELECT count(*) FROM sqlite_schema"));
    if (found_tables == 0) return fail("{}: is an empty database, expected a trace", name);
  }
  if (id != application_id)
    return fail("{}: is not a trace (application_id {:#x}, expected {:#x})", name, id, application_id);
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t version, query_integer(handle, name, "PRAGMA user_version"));
  if (version < oldest_schema_version)
    return fail("{}: schema version is {}, expected {} or newer", name, version, oldest_schema_version);
  trace.schema_version = static_cast<int>(version);
  // A newer version only adds to the known part, which is read if it is complete.
  if (const Result<void> checked = check_tables(handle, name, trace.schema_version); !checked)
    return version > current_schema_version
               ? fail("{} (its schema {} is newer than this program, which knows {})",
                      checked.error().message, version, current_schema_version)
               : fail("{}", checked.error().message);

  trace.budget = std::make_unique<WorkBudget>();
  trace.budget->steps =
      WorkBudget::steps_for(size_or_zero(path) + size_or_zero(side_file(path, "-wal")), steps_per_byte);
  trace.budget->steps_left = trace.budget->steps;
  bound_work(handle, *trace.budget);
  return trace;
}

Result<void> check_unchanged(const OpenTrace& trace) {
  const FileState before = trace.state;
  const FileState now = state_of(trace.path);
  const bool is_other_file = before.device != now.device || before.inode != now.inode;
  if (before.inode == 0 || is_other_file) return {};
  if (now.bytes < before.bytes)
    return fail("{}: was cut from {} to {} bytes while it was read, expected a file that stays as it is",
                trace.path.string(), before.bytes, now.bytes);
  if (trace.is_immutable && (now.bytes != before.bytes || now.modified_ns != before.modified_ns))
    return fail("{}: was changed while it was read, expected a file that stays as it is",
                trace.path.string());
  return {};
}

}  // namespace draftscope::traces
