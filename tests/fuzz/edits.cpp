// SPDX-License-Identifier: GPL-3.0-or-later
#include "edits.h"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "promises.h"

namespace draftscope::fuzz {
namespace {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

Database open_database(const std::filesystem::path& path) {
  sqlite3* database = nullptr;
  require(sqlite3_open(path.c_str(), &database) == SQLITE_OK, "the trace is no database");
  return Database(database);
}

void execute(sqlite3* database, const char* sql) {
  const bool done = sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  require(done, sqlite3_errmsg(database));
}

/// Prepares a statement; null if SQLite refuses it.
Statement prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr);
  return Statement(statement);
}

struct Table {
  std::string name;
  std::vector<std::string> columns;  ///< Quoted names.
  std::string key;                   ///< Key of a row: rowid, or the primary key's columns.
};

std::string column_text(sqlite3_stmt* row, int column) {
  const unsigned char* text = sqlite3_column_text(row, column);
  return text == nullptr ? std::string() : reinterpret_cast<const char*>(text);
}

std::vector<Table> tables_of(sqlite3* database) {
  std::vector<Table> tables;
  const Statement names = prepare(database,
                                  "SELECT name, wr FROM pragma_table_list WHERE type = 'table' AND "
                                  "schema = 'main' AND name NOT LIKE 'sqlite%' ORDER BY name");
  while (sqlite3_step(names.get()) == SQLITE_ROW) {
    Table table{.name = column_text(names.get(), 0), .columns = {}, .key = ""};
    const Statement columns =
        prepare(database, "SELECT name, pk FROM pragma_table_info('" + table.name + "') ORDER BY cid");
    while (sqlite3_step(columns.get()) == SQLITE_ROW) {
      table.columns.push_back("\"" + column_text(columns.get(), 0) + "\"");
      if (sqlite3_column_int(columns.get(), 1) > 0)
        table.key += (table.key.empty() ? "" : ", ") + table.columns.back();
    }
    if (sqlite3_column_int(names.get(), 1) == 0) table.key = "rowid";
    tables.push_back(std::move(table));
  }
  require(!tables.empty(), "the trace has no tables");
  return tables;
}

/// Yields the bytes of the input, then zeros.
class Choices {
 public:
  explicit Choices(std::span<const std::byte> input) : rest_(input) {}

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::size_t below(std::size_t count) {
    return count == 0 ? 0 : static_cast<std::size_t>(number(2)) % count;
  }
  std::uint64_t number(int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes && !rest_.empty(); ++i, rest_ = rest_.subspan(1))
      value = value << 8U | std::to_integer<std::uint64_t>(rest_.front());
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

/// An SQL expression for an odd value; `column` stands for the cell's present value.
std::string odd_value(Choices& choices, const std::string& column) {
  static const std::array<std::string, 30> values{"NULL",
                                                  "0",
                                                  "1",
                                                  "-1",
                                                  "2147483647",
                                                  "2147483648",
                                                  "-2147483648",
                                                  "4294967296",
                                                  "9007199254740993",
                                                  "9223372036854775807",
                                                  "(-9223372036854775807 - 1)",
                                                  "9e999",
                                                  "-9e999",
                                                  "1e308",
                                                  "5e-324",
                                                  "0.5",
                                                  "-0.0",
                                                  "''",
                                                  "'x'",
                                                  "'nan'",
                                                  "'{}'",
                                                  "'[1'",
                                                  "'-9223372036854775808'",
                                                  "char(10, 27, 91, 50, 74)",
                                                  "CAST(x'FF80' AS TEXT)",
                                                  "x''",
                                                  "x'00'",
                                                  "x'FFFFFFFF'",
                                                  "zeroblob(4096)",
                                                  "CAST(zeroblob(70000) AS TEXT)"};
  static const std::array<std::string, 8> changes{" + 1", " - 1",    " * 2",       " * -1",
                                                  " / 2", " || 'x'", " * 1000000", " + 0.5"};
  switch (choices.below(4)) {
    case 0:
      return column + changes[choices.below(changes.size())];
    case 1:
      return std::to_string(static_cast<std::int64_t>(choices.number(1)));
    case 2:
      return std::to_string(static_cast<std::int64_t>(choices.number(8)));
    default:
      return values[choices.below(values.size())];
  }
}

std::int64_t count_rows(sqlite3* database, const Table& table) {
  const Statement count = prepare(database, "SELECT count(*) FROM " + table.name);
  return sqlite3_step(count.get()) == SQLITE_ROW ? sqlite3_column_int64(count.get(), 0) : 0;
}

std::string row_of(const Table& table, std::size_t place) {
  return "(" + table.key + ") = (SELECT " + table.key + " FROM " + table.name + " LIMIT 1 OFFSET " +
         std::to_string(place) + ")";
}

std::string edit(sqlite3* database, const std::vector<Table>& tables, Choices& choices) {
  const Table& table = tables[choices.below(tables.size())];
  const auto rows = static_cast<std::size_t>(count_rows(database, table));
  const std::string& column = table.columns[choices.below(table.columns.size())];
  const std::string row = row_of(table, choices.below(rows));
  const std::string update = "UPDATE OR IGNORE " + table.name + " SET " + column + " = ";
  switch (choices.below(8)) {
    case 0:
      return "DELETE FROM " + table.name + " WHERE " + row;
    case 1: {  // doubles a row; a row with a key gets another key
      std::string values;
      for (const std::string& name : table.columns)
        values += (values.empty() ? "" : ", ") + (name == column ? odd_value(choices, name) : name);
      return "INSERT OR IGNORE INTO " + table.name + " SELECT " + values + " FROM " + table.name + " WHERE " +
             row;
    }
    case 2:  // copies a value from another row
      return update + "(SELECT " + column + " FROM " + table.name + " LIMIT 1 OFFSET " +
             std::to_string(choices.below(rows)) + ") WHERE " + row;
    case 3:
      return update + odd_value(choices, column);  // in every row
    case 4:
      return choices.below(8) == 0 ? "DELETE FROM " + table.name
                                   : "DELETE FROM " + table.name + " WHERE " + row;
    default:
      return update + odd_value(choices, column) + " WHERE " + row;
  }
}

}  // namespace

void damage(const std::filesystem::path& path, std::span<const std::byte> input) {
  const Database database = open_database(path);
  // Without STRICT every cell takes every type; the file that is read has its original schema again.
  execute(database.get(),
          "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;"
          "CREATE TEMP TABLE kept AS SELECT rowid AS id, sql FROM sqlite_master;"
          "PRAGMA writable_schema = ON;"
          "UPDATE sqlite_master SET sql = replace(replace(sql, ') STRICT, WITHOUT', ') WITHOUT'), ') "
          "STRICT', ')');"
          "UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '');"
          "PRAGMA writable_schema = RESET; BEGIN");
  const std::vector<Table> tables = tables_of(database.get());
  Choices choices(input);
  for (int edits = 0; edits < 12 && !choices.empty(); ++edits) {
    const Statement statement = prepare(database.get(), edit(database.get(), tables, choices));
    if (statement != nullptr) sqlite3_step(statement.get());
  }
  execute(database.get(),
          "COMMIT; PRAGMA writable_schema = ON;"
          "UPDATE sqlite_master SET sql = (SELECT sql FROM kept WHERE id = sqlite_master.rowid);"
          "PRAGMA writable_schema = RESET");
}

void write_small_recording(const std::filesystem::path& path) {
  std::filesystem::copy_file(DRAFTSCOPE_SOURCE_DIR "/traces/samples/early-exit.dstrace", path,
                             std::filesystem::copy_options::overwrite_existing);
  const Database database = open_database(path);
  execute(
      database.get(),
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
      "DELETE FROM requests WHERE repeat > 0 OR prompt NOT IN (SELECT id FROM prompts ORDER BY id LIMIT 2);"
      "DELETE FROM prompts WHERE id NOT IN (SELECT prompt FROM requests);"
      "DELETE FROM rounds WHERE request NOT IN (SELECT id FROM requests);"
      "DELETE FROM draft_tokens WHERE round NOT IN (SELECT id FROM rounds);"
      "DELETE FROM decisions WHERE request NOT IN (SELECT id FROM requests);"
      "DELETE FROM shadow_tokens WHERE request NOT IN (SELECT id FROM requests);"
      "DELETE FROM spans WHERE request NOT IN (SELECT id FROM requests);"
      "DELETE FROM lane_columns; DELETE FROM round_columns; DELETE FROM request_sums;"
      "DELETE FROM meta WHERE key = 'overview_column_ns';"
      "VACUUM");
}

}  // namespace draftscope::fuzz
