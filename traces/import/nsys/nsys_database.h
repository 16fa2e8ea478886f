// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads an Nsight Systems export row by row. The tool creates tables and columns only where it has content
// for them, without indexes or constraints. Therefore each is looked up first and every value's type is
// checked.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/frames.h"
#include "import/text_lines.h"
#include "storage/database.h"

namespace draftscope::traces {

/// A row, whose columns are in the order in which they were requested.
class NsysRow {
 public:
  NsysRow(sqlite3_stmt* statement, const std::vector<std::string_view>& columns)
      : statement_(statement), columns_(columns) {}

  /// An integer of a column; `otherwise` for NULL and absent columns.
  [[nodiscard]] std::int64_t integer(int column, std::int64_t otherwise = 0,
                                     std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                     std::int64_t most = std::numeric_limits<std::int64_t>::max());
  /// A number that is not below 0, of this type; 0 for NULL and absent columns.
  template <typename Number>
  [[nodiscard]] Number count(int column) {
    return static_cast<Number>(integer(column, 0, 0, std::numeric_limits<Number>::max()));
  }
  /// Whether the column is NULL or absent.
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL;
  }
  /// A text of a column; empty for NULL and absent columns.
  [[nodiscard]] std::string_view text(int column);

  /// Error of the first value that was wrong; empty if none was. Callers add nothing of a bad row.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  void refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

 private:
  sqlite3_stmt* statement_;
  const std::vector<std::string_view>& columns_;
  std::string problem_;
};

class NsysDatabase {
 public:
  /// Opens an export. With `is_partial`, rows() passes over bad rows. Errors: unreadable, no SQLite database,
  /// damaged, a trace of this project.
  [[nodiscard]] static Result<NsysDatabase> open(const std::filesystem::path& file,
                                                 const ImportProgress& progress, bool is_partial);

  /// The newest table of that name that has rows: NAME, NAME_V2, NAME_V3, …; NAME itself if none has.
  [[nodiscard]] Result<std::string> newest(std::string_view name) const;
  /// Tables with rows that have a start and an end, and are none of these, by name.
  [[nodiscard]] Result<std::vector<std::string>> other_timelines(const std::set<std::string>& read) const;
  /// EXPORT_SCHEMA_VERSION, as the export states it; empty if it does not.
  [[nodiscard]] Result<std::string> schema_version() const;

  [[nodiscard]] Result<bool> has_table(std::string_view table) const;
  /// Number of rows in the tables; an absent table has none.
  [[nodiscard]] Result<std::int64_t> count(const std::vector<std::string_view>& tables) const;

  /// Visits every row of the table, in its order; none if it is absent. The `required` columns must exist;
  /// the `optional` ones come after them. Errors name table and row.
  [[nodiscard]] Result<void> rows(std::string_view table, const std::vector<std::string_view>& required,
                                  const std::vector<std::string_view>& optional,
                                  const std::function<void(NsysRow&)>& take);

  /// Bad rows that rows() passed over.
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }

  [[nodiscard]] Result<bool> has_column(std::string_view table, std::string_view column) const;

  /// Sets the total that progress is measured against, as count() returns it.
  void expect_rows(std::int64_t rows) { all_rows_ = rows; }

 private:
  NsysDatabase(Database database, std::string name, const ImportProgress& progress, bool is_partial);
  [[nodiscard]] Result<std::vector<std::string>> tables() const;
  [[nodiscard]] Result<bool> has_rows(const std::string& table) const;

  std::unique_ptr<WorkBudget> budget_;  // declared before the connection that uses it
  Database database_;
  std::string name_;
  const ImportProgress* progress_;
  bool is_partial_;
  LeftOut left_out_;
  std::int64_t done_rows_ = 0;
  std::int64_t all_rows_ = 0;
};

}  // namespace draftscope::traces
