// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tables and views of a trace with their columns, as SQL on it can name them.

#include <draftscope/base/result.h>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::gui {

struct SqlColumn {
  std::string name;
  std::string type;  ///< "INTEGER"; may be empty of a view's
};

struct SqlTable {
  std::string name;
  bool is_view = false;
  std::vector<SqlColumn> columns;
};

struct SqlSchema {
  std::vector<SqlTable> tables;  ///< in the order of their names, tables first

  /// Whatever the name's case; null if there is none.
  [[nodiscard]] const SqlTable* table(std::string_view name) const;
};

/// Errors: an unreadable trace; "cancelled".
[[nodiscard]] Result<SqlSchema> read_sql_schema(const std::filesystem::path& path,
                                                const std::function<bool()>& should_continue);

/// Equal but for the case of Roman letters.
[[nodiscard]] bool is_same_name(std::string_view a, std::string_view b);

/// A name as SQL takes it: in quotes where it is a word of SQL or has other characters than letters, digits
/// and _.
[[nodiscard]] std::string quoted_name(std::string_view name);

}  // namespace draftscope::gui
