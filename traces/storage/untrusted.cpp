// SPDX-License-Identifier: GPL-3.0-or-later
#include "storage/untrusted.h"

#include <algorithm>

namespace draftscope::traces {
namespace {

// No text or blob of an honest file comes near; a damaged length must not allocate more.
constexpr int max_value_bytes = 1 << 28;
constexpr std::int64_t min_steps = 20'000'000;
constexpr std::uint64_t max_bytes = std::uint64_t{1} << 48U;

/// A name inside a URI: everything but the plainest characters is escaped.
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
  // Without a mapping, a file that others cut short meanwhile ends in an error rather than in a signal.
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
