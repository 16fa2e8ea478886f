// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_schema.h"

#include <draftscope/traces/query.h>

#include <algorithm>
#include <cctype>
#include <variant>

#include "data/sql_completion.h"
#include "data/sql_words.h"

namespace draftscope::gui {

namespace {

constexpr std::size_t max_tables = 1'000;  // a damaged file may claim any number

std::string text_of(const traces::SqlValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

unsigned char lower(char letter) {
  return static_cast<unsigned char>(std::tolower(static_cast<unsigned char>(letter)));
}

/// Types of columns, from the statement that made the table: "(name TYPE …, …)".
void add_types(std::string_view statement, SqlTable& table) {
  int depth = 0;
  bool begins = false;  // a column
  const std::vector<SqlToken> tokens = sql_tokens(statement);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const SqlToken& token = tokens[i];
    if (token.kind == SqlToken::Kind::comment) continue;
    const bool is_sign = token.kind == SqlToken::Kind::sign;
    if (begins && token.kind == SqlToken::Kind::name && tokens[i + 1].kind == SqlToken::Kind::name)
      for (SqlColumn& column : table.columns)
        if (column.name == token.name) column.type = tokens[i + 1].name;
    if (is_sign && token.name == "(") ++depth;
    if (is_sign && token.name == ")") --depth;
    begins = is_sign && depth == 1 && (token.name == "(" || token.name == ",");
  }
}

}  // namespace

const SqlTable* SqlSchema::table(std::string_view name) const {
  const auto found = std::find_if(tables.begin(), tables.end(), [&](const SqlTable& candidate) {
    return is_same_name(candidate.name, name);
  });
  return found == tables.end() ? nullptr : &*found;
}

Result<SqlSchema> read_sql_schema(const std::filesystem::path& path,
                                  const std::function<bool()>& should_continue) {
  DRAFTSCOPE_TRY_ASSIGN(
      const traces::QueryResult rows,
      traces::query(path,
                    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'view') "
                    "AND name NOT LIKE 'sqlite_%' ORDER BY type, name",
                    max_tables, should_continue));
  SqlSchema schema;
  for (const std::vector<traces::SqlValue>& row : rows.rows) {
    SqlTable table{text_of(row[1]), text_of(row[0]) == "view", {}};
    // A query may not ask for a table's columns otherwise, and views state none.
    const auto none =
        traces::query(path, "SELECT * FROM " + quoted_name(table.name) + " LIMIT 0", 1, should_continue);
    if (!should_continue()) return fail("cancelled");
    if (none)
      for (const std::string& column : none->columns) table.columns.push_back({column, {}});
    if (!table.is_view) add_types(text_of(row[2]), table);
    schema.tables.push_back(std::move(table));
  }
  return schema;
}

bool is_same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::string quoted_name(std::string_view name) {
  const bool is_plain = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                        std::all_of(name.begin(), name.end(), [](unsigned char letter) {
                          return std::isalnum(letter) != 0 || letter == '_';
                        });
  // "index" is a word of SQL that no statement of a reader has but as a column.
  const bool is_word = is_same_name(name, "index") || is_same_name(name, "values") ||
                       std::any_of(sql_keywords.begin(), sql_keywords.end(),
                                   [&](std::string_view word) { return is_same_name(word, name); });
  if (is_plain && !is_word) return std::string(name);
  std::string quoted = "\"";
  for (const char letter : name) quoted += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return quoted + '"';
}

}  // namespace draftscope::gui
