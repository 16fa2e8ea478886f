// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Values as text and texts as values, in the forms of Python's str(), repr(), json.dumps() and % operator.

#include <draftscope/base/result.h>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/jinja/budget.h"
#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

/// The text that str() gives; nothing for an undefined value.
[[nodiscard]] Result<std::string> plain_text(const Value& value, Budget& budget);
/// The text that repr() gives.
[[nodiscard]] Result<std::string> literal_text(const Value& value, Budget& budget);
[[nodiscard]] std::string number_text(double number);

struct JsonForm {
  int indent = -1;  ///< spaces a level, or -1 for one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sorts_keys = false;
  bool only_ascii = false;
};
[[nodiscard]] Result<std::string> json_text(const Value& value, const JsonForm& form, Budget& budget);

/// The text with its %s, %d, %05.1f… replaced by the values.
[[nodiscard]] Result<Value> percent_format(const std::string& text, const Value& values, Budget& budget);
/// The text with its {}, {0:>8}, {name}… replaced by the arguments.
[[nodiscard]] Result<Value> brace_format(const std::string& text, const List& positional,
                                         const Variables& named, Budget& budget);

/// The characters of a text, each a view into it.
[[nodiscard]] std::vector<std::string_view> characters(std::string_view text);
[[nodiscard]] std::int64_t count_characters(std::string_view text);
/// Whether Python's str.isspace() holds for the character.
[[nodiscard]] bool is_space(std::string_view character);
[[nodiscard]] std::string upper(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
/// The text with its first character in upper case and the others in lower case.
[[nodiscard]] std::string capitalized(std::string_view text);
/// The text with &, <, >, ' and " as HTML writes them.
[[nodiscard]] std::string escaped(std::string_view text);
/// Position of `part` in `text`, at `from` or later; npos if there is none. Takes linear time for any
/// contents.
[[nodiscard]] std::size_t find_text(std::string_view text, std::string_view part, std::size_t from = 0);
/// The text with at most `count` occurrences of a part replaced; all if negative.
[[nodiscard]] Result<std::string> replaced(std::string_view text, std::string_view from, std::string_view to,
                                           std::int64_t count, Budget& budget);

}  // namespace draftscope::engine::jinja
