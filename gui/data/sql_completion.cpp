// SPDX-License-Identifier: GPL-3.0-or-later
#include "sql_completion.h"

#include <algorithm>
#include <cctype>

#include "data/sql_words.h"

namespace draftscope::gui {

namespace {

constexpr std::size_t max_words = 200;

bool is_name_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return std::isalnum(byte) != 0 || letter == '_' || byte >= 0x80U;
}

/// Where a quoted stretch that begins at `at` ends; doubled quotes stand for themselves. `closed` says
/// whether it does.
std::size_t end_of_quote(std::string_view statement, std::size_t at, char closing, bool& closed) {
  for (++at; at < statement.size(); ++at) {
    if (statement[at] != closing) continue;
    if (closing != ']' && at + 1 < statement.size() && statement[at + 1] == closing) {
      ++at;
      continue;
    }
    closed = true;
    return at + 1;
  }
  closed = false;
  return statement.size();
}

SqlToken quoted_token(std::string_view statement, std::size_t at) {
  const char opening = statement[at];
  SqlToken token{.kind = opening == '\'' ? SqlToken::Kind::text : SqlToken::Kind::name, .begin = at};
  token.end = end_of_quote(statement, at, opening == '[' ? ']' : opening, token.is_closed);
  const std::size_t inside = token.end - at - (token.is_closed ? 2 : 1);
  for (std::size_t i = 0; i < inside; ++i) {
    token.name += statement[at + 1 + i];
    if (statement[at + 1 + i] == opening && opening != '[') ++i;  // the second of a doubled quote
  }
  return token;
}

SqlToken comment_token(std::string_view statement, std::size_t at) {
  SqlToken token{.kind = SqlToken::Kind::comment, .begin = at};
  const bool is_line = statement[at] == '-';
  const std::size_t end = statement.find(is_line ? "\n" : "*/", at + 2);
  token.is_closed = end != std::string_view::npos;
  token.end = token.is_closed ? end + (is_line ? 1 : 2) : statement.size();
  return token;
}

SqlToken next_token(std::string_view statement, std::size_t at) {
  const char letter = statement[at];
  const std::string_view two = statement.substr(at, 2);
  if (letter == '\'' || letter == '"' || letter == '`' || letter == '[') return quoted_token(statement, at);
  if (two == "--" || two == "/*") return comment_token(statement, at);
  SqlToken token{.begin = at, .end = at + 1};
  token.name = letter;
  if (!is_name_letter(letter)) return token;
  const bool is_number = std::isdigit(static_cast<unsigned char>(letter)) != 0;
  token.kind = is_number ? SqlToken::Kind::number : SqlToken::Kind::name;
  while (token.end < statement.size() &&
         (is_name_letter(statement[token.end]) || (is_number && statement[token.end] == '.')))
    ++token.end;
  token.name = statement.substr(at, token.end - at);
  return token;
}

bool is_word(const SqlToken& token, std::string_view word) {
  return token.kind == SqlToken::Kind::name && is_same_name(token.name, word);
}

bool is_sign(const SqlToken& token, std::string_view sign) {
  return token.kind == SqlToken::Kind::sign && token.name == sign;
}

bool is_keyword(const SqlToken& token) {
  return std::any_of(sql_keywords.begin(), sql_keywords.end(),
                     [&](std::string_view word) { return is_word(token, word); });
}

bool begins_with(std::string_view word, std::string_view prefix) {
  return word.size() >= prefix.size() && is_same_name(word.substr(0, prefix.size()), prefix);
}

class Offers {
 public:
  explicit Offers(std::string_view prefix) : prefix_(prefix) {}
  void add(std::string_view word, bool is_name) {
    if (words_.size() == max_words || !begins_with(word, prefix_)) return;
    std::string offered = is_name ? quoted_name(word) : std::string(word);
    if (std::find(words_.begin(), words_.end(), offered) == words_.end())
      words_.push_back(std::move(offered));
  }
  void add_columns(const SqlTable& table) {
    for (const SqlColumn& column : table.columns) add(column.name, true);
  }
  [[nodiscard]] std::vector<std::string> take() && { return std::move(words_); }

 private:
  std::string_view prefix_;
  std::vector<std::string> words_;
};

}  // namespace

std::vector<SqlToken> sql_tokens(std::string_view statement) {
  std::vector<SqlToken> tokens;
  for (std::size_t at = 0; at < statement.size();) {
    if (std::isspace(static_cast<unsigned char>(statement[at])) != 0) {
      ++at;
      continue;
    }
    tokens.push_back(next_token(statement, at));
    at = tokens.back().end;
  }
  return tokens;
}

std::vector<NamedSqlTable> named_tables(const SqlSchema& schema, const std::vector<SqlToken>& tokens) {
  std::vector<NamedSqlTable> named;
  bool is_list = false;  // of tables: after FROM, and after its commas
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (is_word(tokens[i], "from") || is_word(tokens[i], "join")) {
      is_list = true;
    } else if (is_list && tokens[i].kind == SqlToken::Kind::name) {
      is_list = false;
      const SqlTable* table = schema.table(tokens[i].name);
      if (table == nullptr) continue;
      std::size_t next = i + 1;
      if (next < tokens.size() && is_word(tokens[next], "as")) ++next;
      const bool has_alias =
          next < tokens.size() && tokens[next].kind == SqlToken::Kind::name && !is_keyword(tokens[next]);
      named.push_back({table, has_alias ? tokens[next].name : table->name});
      if (has_alias) i = next;
      // A further table may follow.
      is_list = i + 1 < tokens.size() && is_sign(tokens[i + 1], ",");
      if (is_list) ++i;
    } else {
      is_list = false;
    }
  }
  return named;
}

SqlCompletion complete_sql(const SqlSchema& schema, std::string_view statement, std::size_t cursor) {
  cursor = std::min(cursor, statement.size());
  const std::vector<SqlToken> tokens = sql_tokens(statement);
  SqlCompletion completion{.begin = cursor, .words = {}};
  std::size_t before = 0;  // tokens that end before what is completed
  while (before < tokens.size() && tokens[before].end < cursor) ++before;
  std::string prefix;
  if (before < tokens.size() && tokens[before].begin < cursor) {
    const SqlToken& token = tokens[before];
    const bool is_inside = token.end > cursor || !token.is_closed;
    if (token.kind == SqlToken::Kind::text || token.kind == SqlToken::Kind::comment) {
      if (is_inside || token.kind == SqlToken::Kind::comment) return completion;
      ++before;
    } else if (token.kind == SqlToken::Kind::name) {
      completion.begin = token.begin;
      prefix = statement.substr(token.begin, cursor - token.begin);
      if (!prefix.empty() && !is_name_letter(prefix.front())) prefix.erase(0, 1);  // its quote
    } else if (token.kind == SqlToken::Kind::number) {
      return completion;
    } else {
      ++before;
    }
  }
  const std::vector<NamedSqlTable> named = named_tables(schema, tokens);
  Offers offers(prefix);
  const bool is_behind_dot = before > 0 && is_sign(tokens[before - 1], ".");
  if (is_behind_dot) {
    if (before < 2 || tokens[before - 2].kind != SqlToken::Kind::name) return completion;
    const std::string& owner = tokens[before - 2].name;
    for (const NamedSqlTable& table : named)
      if (is_same_name(table.alias, owner)) offers.add_columns(*table.table);
    if (const SqlTable* table = schema.table(owner)) offers.add_columns(*table);
  } else {
    const bool is_table =
        before > 0 && (is_word(tokens[before - 1], "from") || is_word(tokens[before - 1], "join"));
    if (!is_table)
      for (const NamedSqlTable& table : named) offers.add_columns(*table.table);
    for (const SqlTable& table : schema.tables) offers.add(table.name, true);
    if (!is_table) {
      for (const std::string_view word : sql_keywords) offers.add(word, false);
      for (const std::string_view word : sql_functions) offers.add(word, false);
    }
  }
  completion.words = std::move(offers).take();
  return completion;
}

}  // namespace draftscope::gui
