// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Streams the checked rows of one table.

#include <draftscope/base/json_size.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reading/open.h"
#include "storage/columns.h"
#include "storage/database.h"
#include "storage/schema.h"
#include "storage/tables.h"

namespace draftscope::traces {

/// Reads a record's fields from a result row, in the order of columns.h. The file is untrusted: types, ranges
/// and blob lengths are checked, and the first wrong field is reported as text.
class Fetcher {
 public:
  explicit Fetcher(sqlite3_stmt* statement) : statement_(statement) {}

  /// Description of the first wrong field; empty if every field was as expected.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  template <typename Tag>
  void id(std::string_view name, Id<Tag>& field) {
    field = Id<Tag>::from(positive(name));
  }
  template <typename Tag>
  void key(std::string_view name, Id<Tag>& field, std::string_view /*table*/) {
    field = Id<Tag>::from(positive(name));
  }
  template <typename Tag>
  void reference(std::string_view name, Id<Tag>& field, std::string_view /*table*/) {
    if (sqlite3_value_type(column()) == SQLITE_NULL) {
      field = 0;
      ++column_;
    } else {
      field = Id<Tag>::from(positive(name));
    }
  }
  template <typename Field>
  void enumeration(std::string_view name, Field& field, int values, std::string_view /*table*/) {
    field = static_cast<Field>(integer(name, 0, values - 1));
  }
  void millionths(std::string_view name, double& field) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (sqlite3_value_type(column()) == SQLITE_NULL) {
      field = std::numeric_limits<double>::quiet_NaN();
      ++column_;
    } else {
      field = static_cast<double>(integer(name, 0, most)) / 1e6;
    }
  }
  template <typename Field>
  void value(std::string_view name, Field& field) {
    if constexpr (std::is_floating_point_v<Field>) {
      real(name, field);
    } else if constexpr (std::is_same_v<Field, bool>) {
      field = integer(name, 0, 1) != 0;
    } else if constexpr (std::is_same_v<Field, std::uint64_t>) {
      field = static_cast<std::uint64_t>(
          integer(name, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
    } else if constexpr (std::is_same_v<Field, std::int64_t>) {
      const bool time = name.ends_with("_ns");
      field = integer(name, time ? 0 : std::numeric_limits<std::int64_t>::min(),
                      time ? max_ns : std::numeric_limits<std::int64_t>::max());
    } else if constexpr (std::is_integral_v<Field>) {
      field = static_cast<Field>(integer(name, std::int64_t{std::numeric_limits<Field>::min()},
                                         static_cast<std::int64_t>(std::numeric_limits<Field>::max())));
    } else if constexpr (std::is_same_v<Field, std::string>) {
      if (expect(name, column(), SQLITE_TEXT, "text")) field = column_bytes(statement_, column_);
      if ((name == "parameters" || name == "detail") && !is_shallow_json(field))
        report(fmt::format("{} nests deeper than {}, expected at most {}", name, max_json_depth,
                           max_json_depth));
      ++column_;
    } else {
      blob(name, field);
    }
  }

 private:
  /// Gets a column in one call to SQLite, where its type and its value would take two. The connection belongs
  /// to this thread, so nobody else changes the value.
  [[nodiscard]] sqlite3_value* column() const { return sqlite3_column_value(statement_, column_); }

  bool expect(std::string_view name, sqlite3_value* value, int type, std::string_view words) {
    const int found = sqlite3_value_type(value);
    if (found == type) return true;
    constexpr std::string_view type_words[] = {"", "an integer", "a real number", "text", "a blob", "NULL"};
    report(fmt::format("{} holds {}, expected {}", name, type_words[found], words));
    return false;
  }

  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) {
    std::int64_t number = least;
    sqlite3_value* const value = column();
    if (expect(name, value, SQLITE_INTEGER, "an integer")) {
      number = sqlite3_value_int64(value);
      if (number < least || number > most) {
        report(fmt::format("{} is {}, expected {} to {}", name, number, least, most));
        number = least;
      }
    }
    ++column_;
    return number;
  }

  [[nodiscard]] std::int64_t positive(std::string_view name) {
    return integer(name, 1, std::numeric_limits<std::int64_t>::max());
  }

  void real(std::string_view name, double& field) {
    sqlite3_value* const value = column();
    field = std::numeric_limits<double>::quiet_NaN();  // stored as NULL
    if (sqlite3_value_type(value) != SQLITE_NULL && expect(name, value, SQLITE_FLOAT, "a real number"))
      field = sqlite3_value_double(value);
    ++column_;
  }

  template <typename Element>
  void blob(std::string_view name, std::vector<Element>& field) {
    if (expect(name, column(), SQLITE_BLOB, "a blob")) {
      const std::string_view bytes = column_bytes(statement_, column_);
      if (bytes.size() % sizeof(Element) != 0)
        report(fmt::format("{} is {} bytes, expected a multiple of {}", name, bytes.size(), sizeof(Element)));
      field.resize(bytes.size() / sizeof(Element));
      if (!field.empty()) std::memcpy(field.data(), bytes.data(), field.size() * sizeof(Element));
    }
    ++column_;
  }

  void report(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  sqlite3_stmt* statement_;
  int column_ = 0;
  std::string problem_;
};

/// Streams rows of Record that match `where` ("" = all), ordered by `order` ("" = as stored), until `visit`
/// returns false. For a row whose fields are not as expected it calls `unfit` with the first column and the
/// problem as text, instead of `visit`.
template <typename Record, typename Visit, typename Unfit>
Result<void> scan(OpenTrace& trace, std::string_view where, std::string_view order, Visit visit,
                  Unfit unfit) {
  const std::string name = trace.path.string();
  const std::string sql =
      fmt::format("SELECT {} FROM {}{}{}{}{}", column_list<Record>(trace.schema_version), table_name<Record>,
                  where.empty() ? "" : " WHERE ", where, order.empty() ? "" : " ORDER BY ", order);
  trace.budget->steps_left = trace.budget->steps;
  DRAFTSCOPE_TRY_ASSIGN(const Statement statement, prepare(trace.database.get(), name, sql));
  Record row{};
  while (true) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE) return check_unchanged(trace);
    if (code != SQLITE_ROW) {
      auto problem = fail("{}: table {}: {}", name, table_name<Record>, sqlite_error(trace.database.get()));
      DRAFTSCOPE_TRY(check_unchanged(trace));
      return problem;
    }
    Fetcher fetcher(statement.get());
    visit_columns(row, fetcher);
    const bool fit = fetcher.problem().empty();
    if (!(fit ? visit(row) : unfit(sqlite3_column_int64(statement.get(), 0), fetcher.problem()))) return {};
  }
}

/// Streams rows; the first row that is not as expected is the error.
template <typename Record, typename Visit>
Result<void> scan(OpenTrace& trace, std::string_view where, std::string_view order, Visit visit) {
  Result<void> problem;
  DRAFTSCOPE_TRY(scan<Record>(trace, where, order, visit, [&](std::int64_t row, const std::string& words) {
    problem = fail("{}: {} row {}: {}", trace.path.string(), table_name<Record>, row, words);
    return false;
  }));
  return problem;
}

}  // namespace draftscope::traces
