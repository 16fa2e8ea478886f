// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/lexer.h"

#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <utility>

#include "tokenizer/split/utf8.h"

namespace draftscope::engine::jinja {
namespace {

constexpr std::string_view space = " \t\n\v\f\r";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Converts line ends to \n, and drops one at the end, which is not part of the template.
std::string normalize_lines(std::string_view source) {
  std::string lines;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      lines += source[i];
    } else if (i + 1 == source.size() || source[i + 1] != '\n') {
      lines += '\n';
    }
  }
  if (!lines.empty() && lines.back() == '\n') lines.pop_back();
  return lines;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalize_lines(source)), rest_(source_) {}

  Result<std::vector<Token>> run() {
    while (!rest_.empty()) {
      const std::size_t tag = find_tag();
      DRAFTSCOPE_TRY(take_text(tag));
      if (tag == std::string_view::npos) break;
      const char kind = rest_[1];
      const bool signed_tag = rest_.size() > 2 && (rest_[2] == '-' || rest_[2] == '+');
      if (kind == '#') {
        DRAFTSCOPE_TRY(skip_comment());
        continue;
      }
      push(kind == '{' ? TokenKind::open_output : TokenKind::open_block, "");
      rest_.remove_prefix(signed_tag ? 3 : 2);
      DRAFTSCOPE_TRY(take_words(kind == '{'));
    }
    push(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  // The current line; counting continues from the last call.
  std::size_t line() {
    const std::size_t consumed = source_.size() - rest_.size();
    line_ += static_cast<std::size_t>(std::count(source_.data() + counted_, source_.data() + consumed, '\n'));
    counted_ = consumed;
    return line_;
  }

  void push(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line()}); }

  [[nodiscard]] std::size_t find_tag() const {
    for (auto at = rest_.find('{'); at != std::string_view::npos; at = rest_.find('{', at + 1)) {
      const char next = at + 1 < rest_.size() ? rest_[at + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') return at;
    }
    return std::string_view::npos;
  }

  // Takes the text up to the tag, without the white space that the tag removes.
  Result<void> take_text(std::size_t tag) {
    std::string_view text = rest_.substr(0, tag);
    if (tag != std::string_view::npos) {
      const char sign = tag + 2 < rest_.size() ? rest_[tag + 2] : '\0';
      if (sign == '-') {
        text = text.substr(0, text.find_last_not_of(space) + 1);
      } else if (sign != '+' && rest_[tag + 1] != '{') {
        const auto newline = text.rfind('\n');
        const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
        const bool starts_line = newline != std::string_view::npos || at_line_start_;
        if (starts_line && text.find_first_not_of(space, line_begin) == std::string_view::npos)
          text = text.substr(0, line_begin);
      }
    }
    if (!text.empty()) push(TokenKind::text, std::string(text));
    rest_.remove_prefix(std::min(tag, rest_.size()));
    return {};
  }

  // Removes space after a tag's close: `-` removes all white space, a block or comment one line end.
  void take_space_after(bool all, bool one_line_end) {
    at_line_start_ = false;
    if (all) {
      const std::size_t count = std::min(rest_.find_first_not_of(space), rest_.size());
      at_line_start_ = count > 0 && rest_[count - 1] == '\n';
      rest_.remove_prefix(count);
    } else if (one_line_end && !rest_.empty() && rest_[0] == '\n') {
      at_line_start_ = true;
      rest_.remove_prefix(1);
    }
  }

  Result<void> skip_comment() {
    const auto close = rest_.find("#}", 2);
    if (close == std::string_view::npos) return fail("line {}: {{# has no end, expected #}}", line());
    const char sign = rest_[close - 1];
    rest_.remove_prefix(close + 2);
    take_space_after(sign == '-', sign != '+');
    return {};
  }

  Result<void> take_words(bool output) {
    const std::string_view closing = output ? "}}" : "%}";
    int depth = 0;  // number of open brackets, to recognise a dictionary's closing braces
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(space), rest_.size()));
      if (rest_.empty()) return fail("line {}: a tag has no {}", line(), closing);
      const bool has_sign = rest_[0] == '-' || (rest_[0] == '+' && !output);
      if (depth == 0 && rest_.substr(has_sign ? 1 : 0, 2) == closing) {
        const char sign = has_sign ? rest_[0] : '\0';
        push(output ? TokenKind::close_output : TokenKind::close_block, "");
        rest_.remove_prefix(has_sign ? 3 : 2);
        take_space_after(sign == '-', !output && sign != '+');
        return {};
      }
      DRAFTSCOPE_TRY(take_word());
      const std::string& word = tokens_.back().text;
      if (tokens_.back().kind != TokenKind::symbol) continue;
      if (word == "(" || word == "[" || word == "{") ++depth;
      if (word == ")" || word == "]" || word == "}") --depth;
    }
  }

  Result<void> take_word() {
    const char first = rest_[0];
    if (first == '\'' || first == '"') return take_string(first);
    if (is_letter(first) || is_digit(first)) {
      const auto part = [&](char c) { return is_digit(c) || (is_letter(first) && is_letter(c)); };
      const auto end = std::find_if_not(rest_.begin(), rest_.end(), part);
      const auto length = static_cast<std::size_t>(end - rest_.begin());
      push(is_digit(first) ? TokenKind::integer : TokenKind::name, std::string(rest_.substr(0, length)));
      rest_.remove_prefix(length);
      return {};
    }
    static constexpr std::array<std::string_view, 6> pairs{"==", "!=", "<=", ">=", "//", "**"};
    for (const std::string_view pair : pairs)
      if (rest_.substr(0, 2) == pair) return take_symbol(2);
    static constexpr std::string_view singles = "+-*/%~<>=()[]{}.,:|";
    if (singles.find(first) != std::string_view::npos) return take_symbol(1);
    return fail("line {}: found {}, expected a part of a template expression", line(),
                quote(rest_.substr(0, 1)));
  }

  Result<void> take_symbol(std::size_t length) {
    push(TokenKind::symbol, std::string(rest_.substr(0, length)));
    rest_.remove_prefix(length);
    return {};
  }

  Result<void> take_string(char mark) {
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == mark) {
        push(TokenKind::string, std::move(text));
        rest_.remove_prefix(i + 1);
        return {};
      }
      if (rest_[i] != '\\' || i + 1 == rest_.size()) {
        text += rest_[i];
        continue;
      }
      static constexpr std::string_view names = "nrtbf\\'\"";
      static constexpr std::string_view values = "\n\r\t\b\f\\'\"";
      const auto known = names.find(rest_[++i]);
      if (known == std::string_view::npos)
        return fail("line {}: escape {} is not implemented", line(), quote(rest_.substr(i - 1, 2)));
      text += values[known];
    }
    return fail("line {}: a string has no closing {}", line(), mark);
  }

  std::string source_;
  std::string_view rest_;
  std::vector<Token> tokens_;
  bool at_line_start_ = true;
  std::size_t line_ = 1;
  std::size_t counted_ = 0;
};

}  // namespace

Result<std::vector<Token>> tokenize(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace draftscope::engine::jinja
