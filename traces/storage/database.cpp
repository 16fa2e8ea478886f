// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/database.h"

#include <unistd.h>

#include <array>
#include <climits>
#include <cstring>

namespace draftscope::traces {

namespace {

/// SQLite quotes what it stumbles over, which comes from the file: any length, any characters.
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

/// An error's prefix: the file's name, or nothing where the caller says it.
std::string prefix(const std::string& name) {
  return name.empty() ? "" : name + ": ";
}

/// SQLite keeps errno for some failures with the connection, for others (that of a commit) with the file.
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
  // After other failures there is none, or one of an earlier failure.
  const int code = sqlite3_errcode(database) & 0xff;
  const bool is_of_system = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const int system_error = is_of_system ? last_system_error(database) : 0;
  if (system_error != 0) message += fmt::format(": {}", std::strerror(system_error));
  return message;
}

bool is_damage(sqlite3* database) {
  // sqlite3_errcode() gives the extended code where that is on; the lowest byte is the plain one.
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
  if (code == SQLITE_DONE) return fail("{}no row from {}", prefix(name), sql);
  if (code != SQLITE_ROW) return fail("{}{}", prefix(name), sqlite_error(database));
  return sqlite3_column_int64(statement.get(), 0);
}

Result<std::string> query_text(sqlite3* database, const std::string& name, std::string_view sql) {
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement, prepare(database, name, sql));
  const int code = sqlite3_step(statement.get());
  if (code == SQLITE_DONE) return fail("{}no row from {}", prefix(name), sql);
  if (code != SQLITE_ROW) return fail("{}{}", prefix(name), sqlite_error(database));
  return std::string(column_bytes(statement.get(), 0));
}

std::string_view column_bytes(sqlite3_stmt* statement, int column) {
  // The pointer first, then the length: the other order may measure another encoding.
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

}  // namespace draftscope::traces
