// SPDX-License-Identifier: GPL-3.0-or-later
#include "writing/target.h"

#include <draftscope/traces/atomic_trace.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>
#include <system_error>

#include "storage/database.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

/// Whether the file is a trace, so that the side files belong to it. SQLite must not be asked about an empty
/// file, because it deletes a log next to one.
bool is_trace(const fs::path& path) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  constexpr std::size_t id_offset = 68;  // big-endian
  std::array<char, 100> header{};
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(header.data(), header.size())) return false;
  if (std::string_view(header.data(), magic.size()) != magic) return false;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8U | static_cast<unsigned char>(header[id_offset + i]);
  if (id != 0) return id == std::uint32_t{application_id};
  // A recording that was cut off early may have its id only in the log.
  const auto database = open_untrusted(path, "mode=ro");
  if (!database) return false;
  const auto id_in_log = query_integer(database->get(), "", "PRAGMA application_id");
  return id_in_log && *id_in_log == application_id;
}

Result<bool> has_side_files(const fs::path& path) {
  for (const char* const suffix : side_file_suffixes) {
    const fs::path beside = side_file(path, suffix);
    std::error_code error;
    if (!fs::exists(fs::symlink_status(beside, error))) continue;
    // The log of a linked trace is next to the trace.
    if (fs::is_symlink(fs::symlink_status(path, error)) || !is_trace(path))
      return fail("{}: is no trace's log, but {} would keep its own there; expected no file of that name",
                  beside.string(), path.filename().string());
    return true;
  }
  return false;
}

Result<void> make_single_file(sqlite3* database, const std::string& name) {
  // The first read rolls a journal back. Leaving write-ahead mode then needs exclusive access.
  DRAFTSCOPE_TRY(query_integer(database, name, "SELECT count(*) FROM sqlite_schema"));
  return execute(database, name, "PRAGMA journal_mode=DELETE");
}

}  // namespace

Result<bool> look_at_target(const fs::path& path, bool overwrite) {
  if (path.empty()) return fail("found an empty name, expected a file's");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const bool is_there = fs::exists(fs::symlink_status(path, error));
  if (is_there && !overwrite)
    return fail("{}: exists already, expected a new file (or to replace it)", path.string());
  if (fs::exists(status) && !fs::is_regular_file(status))
    return fail("{}: is not a regular file, expected one that a trace can replace", path.string());
  DRAFTSCOPE_TRY(has_side_files(path));
  return is_there;
}

Result<void> check_trace_target(const fs::path& target, const OutputRules& rules) {
  DRAFTSCOPE_TRY(check_output_file(target, rules));
  DRAFTSCOPE_TRY(look_at_target(target, rules.overwrite));
  return {};
}

Result<void> fold_log_of_old(const fs::path& path) {
  DRAFTSCOPE_TRY_ASSIGN(const bool has_log, has_side_files(path));
  if (!has_log) return {};
  const std::string name = path.string();
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(fs::absolute(path).c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  {
    const Database database(handle);
    if (code != SQLITE_OK) return fail("{}: can't be replaced: {}", name, sqlite_error(handle));
    distrust(handle);
    // After an error the log stays as it is.
    sqlite3_db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    if (const auto folded = make_single_file(handle, ""); !folded) {
      if (sqlite3_errcode(handle) == SQLITE_BUSY)
        return fail("{}: is in use: somebody records into it or reads it, so it can't be replaced", name);
      return fail("{}: can't be replaced: folding its log in: {}", name, folded.error().message);
    }
  }
  for (const char* const suffix : side_file_suffixes) {
    const fs::path beside = side_file(path, suffix);
    std::error_code error;
    fs::remove(beside, error);
    if (error) return fail("{}: can't be removed: {}", beside.string(), error.message());
  }
  return {};
}

}  // namespace draftscope::traces
