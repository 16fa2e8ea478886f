// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// For the SQL page: the tables and views of a trace, which columns of a result lead to runs, requests and
// rounds, a result as intervals of time for a lane of the timeline, and queries to start from.

#include <draftscope/base/result.h>
#include <draftscope/traces/query.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/time_range.h"

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

/// Columns of a result that make intervals: a begin (begin_ns or start_ns), and an end (end_ns) or a duration
/// (duration_ns).
struct IntervalColumns {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool end_is_duration = false;
  std::optional<std::size_t> label;  ///< First column called name, label or text; absent = none.
};

/// Absent if the columns make no intervals. Names are compared without case.
[[nodiscard]] std::optional<IntervalColumns> interval_columns(const std::vector<std::string>& columns);

struct QueryInterval {
  TimeRange time;
  std::string label;
};

struct QueryIntervals {
  std::vector<QueryInterval> intervals;  ///< Intervals in the order of their begin.
  std::size_t left_out = 0;              ///< Rows without two numbers, or that end before they begin.
};

[[nodiscard]] QueryIntervals intervals_of(const traces::QueryResult& result, const IntervalColumns& columns);

struct SqlPreset {
  const char* name;  ///< Name for people, before translation.
  const char* sql;
};

[[nodiscard]] std::span<const SqlPreset> sql_presets();

}  // namespace draftscope::gui
