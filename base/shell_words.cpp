// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/shell_words.h>

#include <algorithm>
#include <optional>

namespace draftscope {

namespace {

constexpr std::string_view spaces = " \t\n\r";

bool is_plain(char character) {
  constexpr std::string_view signs = "_-./:,=+@%";
  const bool is_letter = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
  return is_letter || (character >= '0' && character <= '9') ||
         signs.find(character) != std::string_view::npos;
}

}  // namespace

std::string quoted_word(std::string_view text) {
  std::string result = "'";
  for (const char character : text) result += character == '\'' ? "'\\''" : std::string(1, character);
  return result + "'";
}

std::string shell_line(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    const bool needs_quotes = word.empty() || !std::all_of(word.begin(), word.end(), is_plain);
    line += needs_quotes ? quoted_word(word) : word;
  }
  return line;
}

Result<std::vector<std::string>> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  const auto add = [&](char character) {
    if (!word) word.emplace();
    *word += character;
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char character = line[i];
    if (quote != 0 && character == quote) {
      quote = 0;
    } else if (character == '\\' && quote != '\'') {
      if (i + 1 == line.size())
        return fail("command line: ends in a backslash, expected a character after it");
      const char next = line[++i];
      // Between double quotes a backslash is literal unless it can escape the next character.
      if (quote == '"' && next != '"' && next != '\\' && next != '$' && next != '`' && next != '\n')
        add(character);
      if (next != '\n') add(next);
    } else if (quote == 0 && (character == '\'' || character == '"')) {
      quote = character;
      if (!word) word.emplace();
    } else if (quote == 0 && spaces.find(character) != std::string_view::npos) {
      if (word) words.push_back(*word);
      word.reset();
    } else {
      add(character);
    }
  }
  if (quote != 0) return fail("command line: found one {}, expected a second that ends it", quote);
  if (word) words.push_back(*std::move(word));
  return words;
}

}  // namespace draftscope
