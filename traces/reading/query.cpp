// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/traces/query.h>
#include <fmt/format.h>

#include <optional>

#include "reading/open.h"
#include "storage/schema.h"

namespace draftscope::traces {
namespace {

// Limit of a value. SQLite has one row in memory at a time, and a statement can make values and columns of
// any number and length. With these limits a row takes at most 2 GiB.
constexpr int max_value_bytes = 1 << 23;
constexpr int max_columns = 256;
/// Limit of a result; it ends before the row that would exceed it.
constexpr std::size_t max_result_bytes = std::size_t{1} << 28U;

int allow_reading(void* /*context*/, int action, const char* /*first*/, const char* second,
                  const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return second != nullptr && std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

struct Cancel {
  const std::function<bool()>& go_on;
  bool is_cancelled = false;
};

int look(void* context) {
  auto* const cancel = static_cast<Cancel*>(context);
  cancel->is_cancelled = cancel->go_on && !cancel->go_on();
  return cancel->is_cancelled ? 1 : 0;
}

SqlValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return std::string(column_bytes(statement, column));
    case SQLITE_BLOB:
      return fmt::format("{} bytes", sqlite3_column_bytes(statement, column));
    default:
      return std::monostate{};
  }
}

std::size_t bytes_of(const SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return sizeof(SqlValue) + (text == nullptr ? 0 : text->size());
}

/// The current row; none if it takes more than `max_bytes`, from which its size is subtracted.
std::optional<std::vector<SqlValue>> next_row(sqlite3_stmt* statement, std::size_t columns,
                                              std::size_t& max_bytes) {
  std::vector<SqlValue> row;
  row.reserve(columns);
  for (int column = 0; column < static_cast<int>(columns); ++column) {
    row.push_back(value_of(statement, column));
    const std::size_t bytes = bytes_of(row.back());
    if (bytes > max_bytes) return std::nullopt;
    max_bytes -= bytes;
  }
  return row;
}

/// Whether blanks, comments and semicolons are all there is.
bool is_blank(sqlite3* database, std::string_view text) {
  while (!text.empty()) {
    sqlite3_stmt* raw = nullptr;
    const char* rest = nullptr;
    const int prepared =
        sqlite3_prepare_v2(database, text.data(), static_cast<int>(text.size()), &raw, &rest);
    const Statement statement(raw);
    // SQLite reads no further than a NUL.
    if (prepared != SQLITE_OK || raw != nullptr || rest == text.data()) return false;
    text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  }
  return true;
}

}  // namespace

Result<QueryResult> query(const std::filesystem::path& path, std::string_view sql, std::size_t max_rows,
                          const std::function<bool()>& go_on) {
  DRAFTSCOPE_TRY_ASSIGN(const OpenTrace trace, open_trace(path));
  sqlite3* const database = trace.database.get();
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, max_value_bytes);
  sqlite3_limit(database, SQLITE_LIMIT_COLUMN, max_columns);
  DRAFTSCOPE_TRY(execute(database, path.string(), temporary_figure_views()));
  sqlite3_set_authorizer(database, allow_reading, nullptr);
  Cancel cancel{go_on};
  // This handler replaces the work limit for damaged files, since the caller can stop the query.
  sqlite3_progress_handler(database, steps_per_look, look, &cancel);
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int prepared = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &raw, &rest);
  const Statement statement(raw);
  if (prepared == SQLITE_AUTH)
    return fail("SQL: found a statement that changes something, expected one that reads");
  if (prepared != SQLITE_OK) return fail("SQL: {}", excerpt(sqlite3_errmsg(database)));
  if (raw == nullptr) return fail("SQL: found nothing to run, expected a SELECT");
  if (!is_blank(database, sql.substr(static_cast<std::size_t>(rest - sql.data()))))
    return fail("SQL: found more than one statement, expected a single SELECT");
  QueryResult result;
  for (int column = 0; column < sqlite3_column_count(raw); ++column) {
    const char* name = sqlite3_column_name(raw, column);
    result.columns.emplace_back(name == nullptr ? "" : name);
  }
  std::size_t bytes_left = max_result_bytes;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    std::optional<std::vector<SqlValue>> row;
    if (result.rows.size() < max_rows) row = next_row(raw, result.columns.size(), bytes_left);
    if (!row) {
      result.is_cut = true;
      DRAFTSCOPE_TRY(check_unchanged(trace));
      return result;
    }
    result.rows.push_back(*std::move(row));
  }
  if (cancel.is_cancelled) return fail("cancelled");
  DRAFTSCOPE_TRY(check_unchanged(trace));
  if (code != SQLITE_DONE) return fail("SQL: {}", excerpt(sqlite3_errmsg(database)));
  return result;
}

}  // namespace draftscope::traces
