// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The schema of a trace for the SQL page: its tables and views with their columns, and which columns of a
// result lead to runs, requests and rounds.

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

/// Lists tables first, then views, each in order of name. Errors: an unreadable trace; "cancelled".
[[nodiscard]] Result<std::vector<SqlTable>> read_sql_schema(const std::filesystem::path& path,
                                                            const std::function<bool()>& should_continue);

/// Quotes a name for SQL if it is a keyword that a trace has among its names, or has characters other than
/// letters, digits and _.
[[nodiscard]] std::string quoted_name(std::string_view name);

/// Kind of the rows that the ids in a column name.
enum class SqlLink : std::uint8_t { none, run, request, round };

/// One link per column of the result. A column has ids if it is called run, request or round, or if it is
/// called id and the result is of that table alone. Aliases (… AS round) are not resolved.
[[nodiscard]] std::vector<SqlLink> sql_links(std::string_view statement,
                                             const std::vector<std::string>& columns);

}  // namespace draftscope::gui
