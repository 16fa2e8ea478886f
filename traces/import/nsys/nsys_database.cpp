// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/nsys/nsys_database.h"

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>

#include <algorithm>
#include <optional>

#include "storage/schema.h"

namespace draftscope::traces {
namespace {

namespace fs = std::filesystem;

// Work limit per byte. A damaged file's pages may refer to each other in a circle, whereas a sound file needs
// only some instructions per byte.
constexpr std::int64_t steps_per_byte = 50;
constexpr std::size_t max_tables = 1000;  // Exports have some dozens.

/// Whether a table's name can stand in a query as it is, as those of Nsight Systems can.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::int64_t NsysRow::integer(int column, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_NULL) return otherwise;
  const std::string_view name = columns_[static_cast<std::size_t>(column)];
  if (type != SQLITE_INTEGER) {
    constexpr std::string_view words[] = {"", "", "a real number", "text", "a blob"};
    if (problem_.empty()) problem_ = fmt::format("{} holds {}, expected an integer", name, words[type]);
    return otherwise;
  }
  const std::int64_t value = sqlite3_column_int64(statement_, column);
  if (value < least || value > most) {
    if (problem_.empty()) problem_ = fmt::format("{} is {}, expected {} to {}", name, value, least, most);
    return otherwise;
  }
  return value;
}

std::string_view NsysRow::text(int column) {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_NULL) return {};
  if (type != SQLITE_TEXT) {
    if (problem_.empty())
      problem_ = fmt::format("{} holds no text, expected text", columns_[static_cast<std::size_t>(column)]);
    return {};
  }
  return column_bytes(statement_, column);
}

NsysDatabase::NsysDatabase(Database database, std::string name, const ImportProgress& progress,
                           bool is_partial)
    : budget_(std::make_unique<WorkBudget>()),
      database_(std::move(database)),
      name_(std::move(name)),
      progress_(&progress),
      is_partial_(is_partial) {
  bound_work(database_.get(), *budget_);
}

Result<NsysDatabase> NsysDatabase::open(const fs::path& file, const ImportProgress& progress,
                                        bool is_partial) {
  const std::string name = file.string();
  auto database = open_untrusted(file, "mode=ro&immutable=1");
  if (!database) return fail("{}: can't be read: {}", name, database.error().message);
  sqlite3* const handle = database->get();
  DRAFTSCOPE_TRY_ASSIGN(const std::int64_t id, query_integer(handle, name, "PRAGMA application_id"));
  if (id == application_id)
    return fail("{}: is a trace already, expected Nsight Systems' SQLite export", name);
  DRAFTSCOPE_TRY(query_integer(handle, name, "SELECT count(*) FROM sqlite_schema"));
  NsysDatabase opened(std::move(*database), name, progress, is_partial);
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  opened.budget_->steps_left = WorkBudget::steps_for(error ? 0 : bytes, steps_per_byte);
  return opened;
}

Result<std::vector<std::string>> NsysDatabase::tables() const {
  DRAFTSCOPE_TRY_ASSIGN(
      const Statement statement,
      prepare(database_.get(), name_,
              "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' ORDER BY name"));
  std::vector<std::string> names;
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW && names.size() < max_tables) {
    const std::string_view name = column_bytes(statement.get(), 0);
    if (is_plain_name(name) && !name.starts_with("sqlite_")) names.emplace_back(name);
  }
  if (code != SQLITE_DONE && code != SQLITE_ROW)
    return fail("{}: its tables can't be listed: {}", name_, sqlite_error(database_.get()));
  return names;
}

Result<bool> NsysDatabase::has_rows(const std::string& table) const {
  DRAFTSCOPE_TRY_ASSIGN(
      const std::int64_t any,
      query_integer(database_.get(), name_, fmt::format("SELECT EXISTS (SELECT 1 FROM \"{}\")", table)));
  return any == 1;
}

Result<std::string> NsysDatabase::newest(std::string_view name) const {
  std::string newest(name);
  std::int64_t newest_version = 0;
  DRAFTSCOPE_TRY_ASSIGN(const auto names, tables());
  for (const std::string& table : names) {
    const std::string_view rest = std::string_view(table).substr(std::min(name.size(), table.size()));
    if (!table.starts_with(name) || !(rest.empty() || rest.starts_with("_V"))) continue;
    const auto version =
        rest.empty() ? std::optional<std::int64_t>(1) : parse_number<std::int64_t>(rest.substr(2));
    if (!version || *version <= newest_version) continue;
    DRAFTSCOPE_TRY_ASSIGN(const bool has, has_rows(table));
    if (!has) continue;
    newest = table;
    newest_version = *version;
  }
  return newest;
}

Result<std::vector<std::string>> NsysDatabase::other_timelines(const std::set<std::string>& read) const {
  std::vector<std::string> others;
  DRAFTSCOPE_TRY_ASSIGN(const auto names, tables());
  for (const std::string& table : names) {
    if (read.contains(table)) continue;
    DRAFTSCOPE_TRY_ASSIGN(const bool has_start, has_column(table, "start"));
    DRAFTSCOPE_TRY_ASSIGN(const bool has_end, has_column(table, "end"));
    if (!has_start || !has_end) continue;
    DRAFTSCOPE_TRY_ASSIGN(const bool has, has_rows(table));
    if (has) others.push_back(table);
  }
  return others;
}

Result<std::string> NsysDatabase::schema_version() const {
  constexpr std::string_view table = "META_DATA_EXPORT";
  DRAFTSCOPE_TRY_ASSIGN(const bool has_name, has_column(table, "name"));
  DRAFTSCOPE_TRY_ASSIGN(const bool has_value, has_column(table, "value"));
  if (!has_name || !has_value) return std::string();
  DRAFTSCOPE_TRY_ASSIGN(
      const std::string version,
      query_text(database_.get(), name_,
                 fmt::format("SELECT coalesce(max(CAST(value AS TEXT)), '') FROM {} WHERE name = "
                             "'EXPORT_SCHEMA_VERSION'",
                             table)));
  return excerpt(version);
}

Result<bool> NsysDatabase::has_table(std::string_view table) const {
  DRAFTSCOPE_TRY_ASSIGN(
      const std::int64_t tables,
      query_integer(database_.get(), name_,
                    fmt::format("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND "
                                "type = 'table' AND name = '{}'",
                                table)));
  return tables == 1;
}

Result<bool> NsysDatabase::has_column(std::string_view table, std::string_view column) const {
  DRAFTSCOPE_TRY_ASSIGN(
      const std::int64_t columns,
      query_integer(
          database_.get(), name_,
          fmt::format("SELECT count(*) FROM pragma_table_info('{}') WHERE name = '{}'", table, column)));
  return columns == 1;
}

Result<std::int64_t> NsysDatabase::count(const std::vector<std::string_view>& tables) const {
  std::int64_t all = 0;
  for (const std::string_view table : tables) {
    DRAFTSCOPE_TRY_ASSIGN(const bool is_there, has_table(table));
    if (!is_there) continue;
    DRAFTSCOPE_TRY_ASSIGN(
        const std::int64_t rows,
        query_integer(database_.get(), name_, fmt::format("SELECT count(*) FROM {}", table)));
    all += rows;
  }
  return all;
}

Result<void> NsysDatabase::rows(std::string_view table, const std::vector<std::string_view>& required,
                                const std::vector<std::string_view>& optional,
                                const std::function<void(NsysRow&)>& take) {
  constexpr std::int64_t rows_per_report = 4096;
  DRAFTSCOPE_TRY_ASSIGN(const bool is_there, has_table(table));
  if (!is_there) return {};
  std::vector<std::string_view> columns = required;
  std::string list;
  for (const std::string_view column : required) {
    DRAFTSCOPE_TRY_ASSIGN(const bool has, has_column(table, column));
    if (!has) return fail("{}: table {}: found no column {}, expected it", name_, table, column);
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", column);
  }
  for (const std::string_view column : optional) {
    DRAFTSCOPE_TRY_ASSIGN(const bool has, has_column(table, column));
    columns.push_back(column);
    list += list.empty() ? "" : ", ";
    list += has ? fmt::format("\"{}\"", column) : std::string("NULL");
  }
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement,
                        prepare(database_.get(), name_, fmt::format("SELECT {} FROM {}", list, table)));
  int code = SQLITE_ROW;
  for (std::int64_t number = 1; (code = sqlite3_step(statement.get())) == SQLITE_ROW; ++number) {
    NsysRow row(statement.get(), columns);
    take(row);
    if (!row.problem().empty()) {
      std::string problem = fmt::format("{}: {} row {}: {}", name_, table, number, row.problem());
      if (!is_partial_) return fail("{}{}", problem, " (--partial takes the other rows)");
      left_out_.add(std::move(problem));
    }
    if (++done_rows_ % rows_per_report == 0 && all_rows_ > 0) {
      const double share = std::min(1.0, static_cast<double>(done_rows_) / static_cast<double>(all_rows_));
      DRAFTSCOPE_TRY(
          progress_->update(static_cast<std::int64_t>(share * static_cast<double>(progress_->all_bytes))));
    }
  }
  if (code == SQLITE_INTERRUPT)
    return fail("{}: table {}: reading it takes too long, expected what a sound file of that size can need",
                name_, table);
  if (code != SQLITE_DONE) return fail("{}: table {}: {}", name_, table, sqlite_error(database_.get()));
  return {};
}

}  // namespace draftscope::traces
