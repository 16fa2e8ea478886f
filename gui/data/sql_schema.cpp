// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_schema.h"

#include <draftscope/traces/query.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <variant>

namespace draftscope::gui {

namespace {

constexpr std::size_t max_tables = 1'000;  // A damaged file may claim any number.

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return lower;
}

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
    if (std::isspace(static_cast<unsigned char>(word.front())) == 0) words.push_back(lower_case(word));
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
  if (is_plain && std::ranges::find(sql_words, lower_case(name)) == sql_words.end()) return std::string(name);
  return in_quotes(name);
}

std::vector<SqlLink> sql_links(std::string_view statement, const std::vector<std::string>& columns) {
  std::vector<SqlLink> links;
  for (const std::string& column : columns) {
    const std::string name = lower_case(column);
    if (name == "id")
      links.push_back(link_of_only_table(statement));
    else
      links.push_back(name.ends_with('s') ? SqlLink::none : link_of(name));
  }
  return links;
}

}  // namespace draftscope::gui
