// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/database.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

namespace draftscope::traces {

namespace {

/// Quotes a text from SQLite's message, which comes from the file and may have any length and any characters.
std::string quoted_in_one_line(std::string_view text) {
  constexpr std::size_t most = 200;
  const bool is_long = text.size() > most;
  std::string line(text.substr(0, most));
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_printable = byte >= 0x20 && byte < 0x7f;
    if (!is_printable) c = ' ';
  }
  return is_long ? line + "..." : line;
}

/// Prefix of an error: the file's name, or nothing where the caller adds it.
std::string prefix(const std::string& name) {
  return name.empty() ? "" : name + ": ";
}

/// Returns errno of the last failure. SQLite stores it with the connection for some failures, and with the
/// file for others (that of a commit).
int last_system_error(sqlite3* database) {
  if (const int error = sqlite3_system_errno(database); error != 0) return error;
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int error = 0;
    if (sqlite3_file_control(database, "main", which, &file) == SQLITE_OK && file != nullptr &&
        file->pMethods != nullptr)
      file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

std::string sqlite_error(sqlite3* database) {
  if (database == nullptr) return "out of memory";
  std::string message = fmt::format("{} (code {})", quoted_in_one_line(sqlite3_errmsg(database)),
                                    sqlite3_extended_errcode(database));
  // After other failures there is no errno, or that of an earlier failure.
  const int code = sqlite3_errcode(database) & 0xff;
  const bool is_of_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const int system_error = is_of_system ? last_system_error(database) : 0;
  if (system_error != 0) message += fmt::format(": {}", std::strerror(system_error));
  return message;
}

bool is_damage(sqlite3* database) {
  // sqlite3_errcode() returns the extended code where that is enabled; the lowest byte is the plain one.
  switch (sqlite3_errcode(database) & 0xff) {
    case SQLITE_NOMEM:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_INTERRUPT:
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOLFS:
    case SQLITE_MISUSE:
      return false;
    default:
      return true;
  }
}

Result<Statement> prepare(sqlite3* database, const std::string& name, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                         &statement, nullptr) != SQLITE_OK)
    return fail("{}{}", prefix(name), sqlite_error(database));
  return Statement(statement);
}

Result<void> execute(sqlite3* database, const std::string& name, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return fail("{}{}", prefix(name), sqlite_error(database));
  return {};
}

Result<std::int64_t> query_integer(sqlite3* database, const std::string& name, std::string_view sql) {
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement, prepare(database, name, sql));
  const int code = sqlite3_step(statement.get());
  if (code == SQLITE_DONE) return fail("{}no row from {}, expected one", prefix(name), sql);
  if (code != SQLITE_ROW) return fail("{}{}", prefix(name), sqlite_error(database));
  return sqlite3_column_int64(statement.get(), 0);
}

Result<std::string> query_text(sqlite3* database, const std::string& name, std::string_view sql) {
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement, prepare(database, name, sql));
  const int code = sqlite3_step(statement.get());
  if (code == SQLITE_DONE) return fail("{}no row from {}, expected one", prefix(name), sql);
  if (code != SQLITE_ROW) return fail("{}{}", prefix(name), sqlite_error(database));
  return std::string(column_bytes(statement.get(), 0));
}

std::string_view column_bytes(sqlite3_stmt* statement, int column) {
  // The pointer must be fetched before the length, because in the other order the length may be that of
  // another encoding.
  const void* const bytes = sqlite3_column_blob(statement, column);
  const int size = sqlite3_column_bytes(statement, column);
  if (bytes == nullptr || size <= 0) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

void remove_side_files(const std::filesystem::path& path) noexcept {
  std::array<char, PATH_MAX> name{};
  const std::size_t length = path.native().size();
  constexpr std::size_t longest_suffix = 16;
  if (length + longest_suffix > name.size()) return;  // no file has so long a name
  std::memcpy(name.data(), path.c_str(), length);
  for (const char* const suffix : side_file_suffixes) {
    std::memcpy(name.data() + length, suffix, std::strlen(suffix) + 1);
    ::unlink(name.data());
  }
}

namespace {

// No text or blob of an honest file has nearly this size; a damaged length must not allocate more.
constexpr int max_value_bytes = 1 << 28;
constexpr std::int64_t min_steps = 20'000'000;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 48U;

/// Escapes a name inside a URI: everything but the plainest characters.
std::string uri_of(const std::filesystem::path& path, std::string_view query) {
  std::string text = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    if (plain)
      text += c;
    else
      text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text.append("?").append(query);
}

int look_at_budget(void* context) {
  auto* const budget = static_cast<WorkBudget*>(context);
  budget->steps_left -= steps_per_look;
  if (budget->stopped != nullptr && budget->stopped->load(std::memory_order_relaxed)) return 1;
  return budget->steps_left < 0 ? 1 : 0;
}

}  // namespace

std::int64_t WorkBudget::steps_for(std::uint64_t bytes, std::int64_t steps_per_byte) {
  return std::max(min_steps, steps_per_byte * static_cast<std::int64_t>(std::min(bytes, max_bytes)));
}

Result<Database> open_untrusted(const std::filesystem::path& path, std::string_view query) {
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(uri_of(path, query).c_str(), &handle,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(handle);
  if (code != SQLITE_OK) return fail("{}", sqlite_error(handle));
  distrust(handle);
  // Without a memory mapping, a file that others cut short meanwhile causes an error rather than a signal.
  DRAFTSCOPE_TRY(
      execute(handle, "", "PRAGMA cell_size_check=ON; PRAGMA temp_store=FILE; PRAGMA mmap_size=0;"));
  return database;
}

void distrust(sqlite3* database) {
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, max_value_bytes);
}

void bound_work(sqlite3* database, WorkBudget& budget) {
  sqlite3_progress_handler(database, steps_per_look, look_at_budget, &budget);
}

}  // namespace draftscope::traces
