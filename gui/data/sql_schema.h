// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the SQL page knows of a trace: its tables and views with their columns, and which columns of a result
// lead to runs, requests and rounds.

#include <draftscope/base/result.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::gui {

struct SqlTable {
  std::string name;
  bool is_view = false;
  std::vector<std::string> columns;
};

/// In the order of their names, tables first. Errors: an unreadable trace; "cancelled".
[[nodiscard]] Result<std::vector<SqlTable>> read_sql_schema(const std::filesystem::path& path,
                                                            const std::function<bool()>& should_continue);

/// A name as SQL takes it: in quotes where it is a word of SQL or has other characters than letters, digits
/// and _.
[[nodiscard]] std::string quoted_name(std::string_view name);

/// Kind of the rows that the ids in a column name.
enum class SqlLink : std::uint8_t { none, run, request, round };

/// One a column of the result. A column has ids if it is called run, request or round, or id in a result of
/// the table of that alone. A name that stands for something else (… AS round) is not seen through.
[[nodiscard]] std::vector<SqlLink> sql_links(std::string_view statement,
                                             const std::vector<std::string>& columns);

}  // namespace draftscope::gui
