// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_lane.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <variant>

namespace draftscope::gui {

namespace {

/// Column of the first of these names that is there; a copy of a name counts by its first column.
template <std::size_t count>
std::optional<std::size_t> column_named(const std::vector<std::string>& columns,
                                        const std::array<std::string_view, count>& names) {
  for (const std::string_view name : names)
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (std::ranges::equal(columns[i], name, [](unsigned char letter, unsigned char of_name) {
            return std::tolower(letter) == of_name;
          }))
        return i;
  return std::nullopt;
}

/// Whole nanoseconds of a value; none for other values, and where 64 bits would not hold a sum of two.
std::optional<std::int64_t> time_of_value(const traces::SqlValue& value) {
  constexpr double limit = 4e18;
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return std::abs(static_cast<double>(*whole)) < limit ? std::optional(*whole) : std::nullopt;
  const auto* real = std::get_if<double>(&value);
  if (real == nullptr || !(std::abs(*real) < limit)) return std::nullopt;
  return std::llround(*real);
}

}  // namespace

std::optional<IntervalColumns> interval_columns(const std::vector<std::string>& columns) {
  using Names = std::array<std::string_view, 2>;
  const auto begin = column_named(columns, Names{"begin_ns", "start_ns"});
  const auto end = column_named(columns, std::array<std::string_view, 1>{"end_ns"});
  const auto duration = column_named(columns, std::array<std::string_view, 1>{"duration_ns"});
  if (!begin || (!end && !duration)) return std::nullopt;
  return IntervalColumns{*begin, end ? *end : *duration, !end,
                         column_named(columns, std::array<std::string_view, 3>{"name", "label", "text"})};
}

QueryIntervals intervals_of(const traces::QueryResult& result, const IntervalColumns& columns) {
  QueryIntervals found;
  found.intervals.reserve(result.rows.size());
  for (const std::vector<traces::SqlValue>& row : result.rows) {
    const auto begin = time_of_value(row[columns.begin]);
    auto end = time_of_value(row[columns.end]);
    if (begin && end && columns.end_is_duration) end = *begin + *end;
    if (!begin || !end || *end < *begin) {
      ++found.left_out;
      continue;
    }
    QueryInterval& interval = found.intervals.emplace_back();
    interval.time = {*begin, *end};
    if (columns.label)
      if (const auto* text = std::get_if<std::string>(&row[*columns.label])) interval.label = *text;
  }
  std::stable_sort(
      found.intervals.begin(), found.intervals.end(),
      [](const QueryInterval& a, const QueryInterval& b) { return a.time.start_ns < b.time.start_ns; });
  return found;
}

}  // namespace draftscope::gui
