// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads an Nsight Systems export row by row. The tool creates tables and columns only where it has content
// for them, without indexes or constraints. Therefore each is looked up first and every value's type is
// checked.

#include <draftscope/base/result.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "import/text_lines.h"
#include "storage/database.h"

namespace draftscope::traces {

/// A row, whose columns are in the order in which they were requested.
class NsysRow {
 public:
  NsysRow(sqlite3_stmt* statement, const std::vector<std::string_view>& columns)
      : statement_(statement), columns_(columns) {}

  /// An integer of a column; `otherwise` for NULL and absent columns.
  [[nodiscard]] std::int64_t integer(int column, std::int64_t otherwise, std::int64_t least,
                                     std::int64_t most);
  /// A text of a column; empty for NULL and absent columns.
  [[nodiscard]] std::string_view text(int column);

  /// Error of the first value that was wrong; empty if none was.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  sqlite3_stmt* statement_;
  const std::vector<std::string_view>& columns_;
  std::string problem_;
};

class NsysDatabase {
 public:
  /// Opens an export. Errors: unreadable, no SQLite database, damaged, a trace of this project.
  [[nodiscard]] static Result<NsysDatabase> open(const std::filesystem::path& file,
                                                 const ImportProgress& progress);

  [[nodiscard]] Result<bool> has_table(std::string_view table) const;
  /// Number of rows in the tables; an absent table has none.
  [[nodiscard]] Result<std::int64_t> count(const std::vector<std::string_view>& tables) const;

  /// Visits every row of the table, in its order; none if it is absent. The `required` columns must exist;
  /// the `optional` ones come after them. Errors name table and row.
  [[nodiscard]] Result<void> rows(std::string_view table, const std::vector<std::string_view>& required,
                                  const std::vector<std::string_view>& optional,
                                  const std::function<void(NsysRow&)>& take);

  /// Sets the total that progress is measured against, as count() returns it.
  void expect_rows(std::int64_t rows) { all_rows_ = rows; }

 private:
  NsysDatabase(Database database, std::string name, const ImportProgress& progress);
  [[nodiscard]] Result<bool> has_column(std::string_view table, std::string_view column) const;

  std::unique_ptr<WorkBudget> budget_;  // declared before the connection that uses it
  Database database_;
  std::string name_;
  const ImportProgress* progress_;
  std::int64_t done_rows_ = 0;
  std::int64_t all_rows_ = 0;
};

}  // namespace draftscope::traces
