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
      DRAFTSCOPE_TRY_ASSIGN(const bool raw, take_raw());
      if (raw) continue;
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

  // The length of {% name %} at the start of a text, or 0; `sign` becomes the one before its close.
  static std::size_t tag_length(std::string_view text, std::string_view name, char& sign) {
    const auto skip = [&](std::size_t at) {
      return std::min(text.find_first_not_of(space, at), text.size());
    };
    std::size_t end = 2;
    if (end < text.size() && (text[end] == '-' || text[end] == '+')) ++end;
    end = skip(end);
    if (text.substr(0, 2) != "{%" || text.substr(end, name.size()) != name) return 0;
    end = skip(end + name.size());
    sign = end < text.size() ? text[end] : '\0';
    if (sign == '-' || sign == '+') ++end;
    return text.substr(end, 2) == "%}" ? end + 2 : 0;
  }

  // Takes {% raw %}…{% endraw %} as text, if that is what comes.
  Result<bool> take_raw() {
    char sign = '\0';
    const std::size_t length = tag_length(rest_, "raw", sign);
    if (length == 0) return false;
    rest_.remove_prefix(length);
    take_space_after(sign == '-', false);
    for (std::size_t at = rest_.find("{%"); at != std::string_view::npos; at = rest_.find("{%", at + 2)) {
      const std::size_t end = tag_length(rest_.substr(at), "endraw", sign);
      if (end == 0) continue;
      DRAFTSCOPE_TRY(take_text(at));
      rest_.remove_prefix(end);
      take_space_after(sign == '-', sign != '+');
      return true;
    }
    return fail("line {}: {{% raw %}} has no end, expected {{% endraw %}}", line());
  }

  Result<void> take_words(bool output) {
    const std::string_view closing = output ? "}}" : "%}";
    int depth = 0;  // number of open brackets, to recognise a dictionary's closing braces
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(space), rest_.size()));
      if (rest_.empty()) return fail("line {}: a tag has no {}, expected one", line(), closing);
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
    if (is_digit(first)) return take_number();
    if (is_letter(first)) {
      const auto part = [&](char c) { return is_digit(c) || is_letter(c); };
      const auto end = std::find_if_not(rest_.begin(), rest_.end(), part);
      const auto length = static_cast<std::size_t>(end - rest_.begin());
      push(TokenKind::name, std::string(rest_.substr(0, length)));
      rest_.remove_prefix(length);
      return {};
    }
    static constexpr std::array<std::string_view, 6> pairs{"==", "!=", "<=", ">=", "//", "**"};
    for (const std::string_view pair : pairs)
      if (rest_.substr(0, 2) == pair) return take_symbol(2);
    static constexpr std::string_view singles = "+-*/%~<>=()[]{}.,:|;";
    if (singles.find(first) != std::string_view::npos) return take_symbol(1);
    return fail("line {}: found {}, expected a part of a template expression", line(),
                quote(rest_.substr(0, 1)));
  }

  // An integer, in base 2, 8, 10 or 16; or a number with a fraction or a power of ten. A member's index, as
  // in x.0, has no fraction.
  Result<void> take_number() {
    const bool is_index =
        !tokens_.empty() && tokens_.back().kind == TokenKind::symbol && tokens_.back().text == ".";
    const auto digits_from = [&](std::size_t at) {
      while (at < rest_.size() &&
             (is_digit(rest_[at]) || (rest_[at] == '_' && at > 0 && is_digit(rest_[at - 1]))))
        ++at;
      return at;
    };
    const auto digit_at = [&](std::size_t at) { return at < rest_.size() && is_digit(rest_[at]); };
    std::size_t end = digits_from(0);
    TokenKind kind = TokenKind::integer;
    if (end == 1 && rest_[0] == '0' && rest_.size() > 2 &&
        std::string_view("xXoObB").find(rest_[1]) != std::string_view::npos) {
      end = std::min(rest_.find_first_not_of("0123456789abcdefABCDEF_", 2), rest_.size());
    } else if (!is_index) {
      if (end < rest_.size() && rest_[end] == '.' && digit_at(end + 1)) {
        kind = TokenKind::number;
        end = digits_from(end + 1);
      }
      const std::size_t sign =
          end + 1 < rest_.size() && (rest_[end + 1] == '-' || rest_[end + 1] == '+') ? 1 : 0;
      if (end < rest_.size() && (rest_[end] == 'e' || rest_[end] == 'E') && digit_at(end + 1 + sign)) {
        kind = TokenKind::number;
        end = digits_from(end + 1 + sign);
      }
    }
    std::string text(rest_.substr(0, end));
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    push(kind, std::move(text));
    rest_.remove_prefix(end);
    return {};
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
      DRAFTSCOPE_TRY_ASSIGN(i, take_escape(i + 1, text));
    }
    return fail("line {}: a string has no closing {}, expected one", line(), mark);
  }

  // Reads what follows a backslash, as Python does, and returns the place of its last byte.
  Result<std::size_t> take_escape(std::size_t at, std::string& text) {
    static constexpr std::string_view names = "nrtbfav\\'\"";
    static constexpr std::string_view values = "\n\r\t\b\f\a\v\\'\"";
    static constexpr std::string_view digits = "0123456789abcdef";
    const char name = rest_[at];
    if (name == '\n') return at;
    if (const auto known = names.find(name); known != std::string_view::npos) {
      text += values[known];
      return at;
    }
    const bool octal = name >= '0' && name <= '7';
    const std::size_t count = octal ? 3 : name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
    if (count == 0) {
      if (name == 'N') return fail("line {}: escape '\\N' is not implemented", line());
      (text += '\\') += name;
      return at;
    }
    const std::size_t first = octal ? at : at + 1;
    std::uint32_t code = 0;
    std::size_t end = first;
    for (; end < first + count && end < rest_.size(); ++end) {
      const char letter =
          rest_[end] >= 'A' && rest_[end] <= 'F' ? static_cast<char>(rest_[end] + ('a' - 'A')) : rest_[end];
      const auto digit = digits.substr(0, octal ? 8 : 16).find(letter);
      if (digit == std::string_view::npos) break;
      code = code * (octal ? 8 : 16) + static_cast<std::uint32_t>(digit);
    }
    if ((!octal && end != first + count) || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      return fail("line {}: escape {} names no character, expected {} hexadecimal digits", line(),
                  quote(rest_.substr(at - 1, end - at + 1)), count);
    tokenizer::append_utf8(text, static_cast<char32_t>(code));
    return end - 1;
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
