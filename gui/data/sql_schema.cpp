// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_schema.h"

#include <draftscope/base/ascii.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <variant>

namespace draftscope::gui {

namespace {

constexpr std::size_t max_tables = 1'000;  // A damaged file may claim any number.

bool is_name_letter(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

std::string text_of(const traces::SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

/// Words of a statement in lower case, and each of its signs as a separate word.
std::vector<std::string> words_of(std::string_view statement) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < statement.size();) {
    std::size_t end = at;
    while (end < statement.size() && is_name_letter(statement[end])) ++end;
    if (end == at) ++end;
    const std::string_view word = statement.substr(at, end - at);
    if (std::isspace(static_cast<unsigned char>(word.front())) == 0) words.push_back(in_lower_case(word));
    at = end;
  }
  return words;
}

SqlLink link_of(std::string_view name) {
  if (name == "run" || name == "runs") return SqlLink::run;
  if (name == "request" || name == "requests") return SqlLink::request;
  return name == "round" || name == "rounds" ? SqlLink::round : SqlLink::none;
}

/// Kind of a table's rows, if the statement reads that table alone.
SqlLink link_of_only_table(std::string_view statement) {
  const std::vector<std::string> words = words_of(statement);
  const auto from = std::ranges::find(words, "from");
  if (words.end() - from < 2 || std::find(from + 1, words.end(), "from") != words.end() ||
      std::ranges::find(words, "join") != words.end())
    return SqlLink::none;
  // A list of tables continues after the first table's alias.
  constexpr std::ptrdiff_t max_words_of_table = 5;
  const auto end = from + std::min(words.end() - from, max_words_of_table);
  if (std::find(from, end, ",") != end) return SqlLink::none;
  return from[1].ends_with('s') ? link_of(from[1]) : SqlLink::none;
}

std::string in_quotes(std::string_view name) {
  std::string quoted = "\"";
  for (const char letter : name) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + '"';
}

}  // namespace

Result<std::vector<SqlTable>> read_sql_schema(const std::filesystem::path& path,
                                              const std::function<bool()>& should_continue) {
  DRAFTSCOPE_TRY_ASSIGN(const traces::QueryResult rows,
                        traces::query(path,
                                      "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') "
                                      "AND name NOT LIKE 'sqlite_%' ORDER BY type, name",
                                      max_tables, should_continue));
  std::vector<SqlTable> tables;
  for (const std::vector<traces::SqlValue>& row : rows.rows) {
    SqlTable table{text_of(row[1]), text_of(row[0]) == "view", {}};
    // A query has no other way to ask for a table's columns.
    const auto none =
        traces::query(path, "SELECT * FROM " + in_quotes(table.name) + " LIMIT 0", 1, should_continue);
    if (!should_continue()) return fail("cancelled");
    if (none) table.columns = none->columns;
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string quoted_name(std::string_view name) {
  // Among the names in a trace, these are SQL keywords.
  constexpr std::array<std::string_view, 6> sql_words{"index", "values", "order", "group", "from", "to"};
  const bool is_plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                        std::ranges::all_of(name, is_name_letter);
  if (is_plain && std::ranges::find(sql_words, in_lower_case(name)) == sql_words.end())
    return std::string(name);
  return in_quotes(name);
}

std::vector<SqlLink> sql_links(std::string_view statement, const std::vector<std::string>& columns) {
  std::vector<SqlLink> links;
  for (const std::string& column : columns) {
    const std::string name = in_lower_case(column);
    if (name == "id")
      links.push_back(link_of_only_table(statement));
    else
      links.push_back(name.ends_with('s') ? SqlLink::none : link_of(name));
  }
  return links;
}

namespace {

/// Column of the first of these names that is there; a copy of a name counts by its first column.
template <std::size_t count>
std::optional<std::size_t> column_named(const std::vector<std::string>& columns,
                                        const std::array<std::string_view, count>& names) {
  for (const std::string_view name : names)
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (in_lower_case(columns[i]) == name) return i;
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

namespace {

constexpr std::array<SqlPreset, 8> presets{{
    {"Figures of the runs", "SELECT * FROM run_figures"},
    {"Slowest rounds",
     "SELECT round, specification, category, drafted, accepted, duration_ns / 1e6 AS ms\nFROM round_figures "
     "ORDER BY duration_ns DESC LIMIT 50"},
    {"Acceptance by draft position",
     "SELECT specification, draft_tokens.\"index\" AS position, count(*) AS drafted,\n       "
     "sum(draft_tokens.accepted) AS accepted, avg(draft_tokens.accepted) AS acceptance, avg(confidence) AS "
     "confidence\n"
     "FROM draft_tokens JOIN round_figures USING (round)\nGROUP BY specification, position ORDER BY "
     "specification, position"},
    {"Why drafts ended",
     "SELECT specification, draft_stop, count(*) AS rounds, avg(accepted) AS accepted\nFROM round_figures "
     "GROUP BY specification, draft_stop"},
    {"Time by span name",
     "SELECT strings.text AS name, count(*) AS spans, sum(end_ns - start_ns) / 1e6 AS ms\nFROM spans JOIN "
     "strings ON strings.id = spans.name GROUP BY name ORDER BY ms DESC"},
    // As in Breakdown: an instant belongs to the kernel that began first.
    {"Kernels by time",
     "-- attributed: an instant belongs to the kernel that began first; open: end less start, overlaps and "
     "all\n"
     "WITH device AS (\n"
     "  SELECT strings.text AS name, start_ns, end_ns, max(end_ns) OVER (ORDER BY start_ns, end_ns, "
     "kernels.id\n"
     "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns\n"
     "  FROM kernels JOIN tracks ON tracks.id = track AND tracks.kind = 'stream'\n"
     "  JOIN strings ON strings.id = short_name)\n"
     "SELECT sum(max(0, end_ns - max(start_ns, ifnull(busy_until_ns, start_ns)))) / 1e6 AS attributed_ms,\n"
     "  sum(end_ns - start_ns) / 1e6 AS open_ms, count(*) AS kernels, name\n"
     "FROM device GROUP BY name ORDER BY attributed_ms DESC"},
    {"Gaps on the device",
     "-- times in which no stream runs anything, the longest first; Show as lane puts them on the timeline\n"
     "WITH device AS (\n"
     "  SELECT request, round, start_ns, max(end_ns) OVER (ORDER BY start_ns, end_ns, kernels.id\n"
     "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until_ns\n"
     "  FROM kernels JOIN tracks ON tracks.id = track AND tracks.kind = 'stream')\n"
     "SELECT (start_ns - busy_until_ns) / 1e3 AS us, request, round, busy_until_ns AS begin_ns, start_ns AS "
     "end_ns\n"
     "FROM device WHERE start_ns > busy_until_ns ORDER BY us DESC LIMIT 1000"},
    {"Bytes copied",
     "-- copies and memory sets of each kind\n"
     "SELECT tracks.name, count(*) AS copies, CAST(sum(value) AS INTEGER) AS bytes, max(value) AS "
     "largest_bytes\n"
     "FROM counters JOIN tracks ON tracks.id = track AND tracks.name LIKE 'mem%, bytes'\n"
     "GROUP BY tracks.name ORDER BY bytes DESC"},
}};

}  // namespace

std::span<const SqlPreset> sql_presets() {
  return presets;
}

}  // namespace draftscope::gui
