// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a statement may go on with at the cursor: columns of the tables that it names, tables, words of SQL.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "data/sql_schema.h"

namespace draftscope::gui {

struct SqlCompletion {
  std::size_t begin = 0;           ///< of what is replaced, which ends at the cursor; in bytes
  std::vector<std::string> words;  ///< that begin with it, the likeliest first; none inside a text or comment
};

/// `cursor` is in bytes. After "name." only that table's columns are offered; after FROM and JOIN only
/// tables. Takes any input.
[[nodiscard]] SqlCompletion complete_sql(const SqlSchema& schema, std::string_view statement,
                                         std::size_t cursor);

/// A word or sign of a statement, as completion and links see it.
struct SqlToken {
  enum class Kind : std::uint8_t { name, text, number, sign, comment } kind = Kind::sign;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name;       ///< as it stands there, of names without quotes
  bool is_closed = true;  ///< false of a quote or comment that goes on to the end
};

[[nodiscard]] std::vector<SqlToken> sql_tokens(std::string_view statement);

/// A table that the statement names after FROM or JOIN, and what it calls it.
struct NamedSqlTable {
  const SqlTable* table = nullptr;
  std::string alias;  ///< its name if it has none
};
[[nodiscard]] std::vector<NamedSqlTable> named_tables(const SqlSchema& schema,
                                                      const std::vector<SqlToken>& tokens);

}  // namespace draftscope::gui
