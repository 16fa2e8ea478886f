// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// PTX text cut into words, numbers, strings and punctuation, one at a time.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace draftscope::ptx {

enum class TokenKind : std::uint8_t { word, number, string, punctuation, end };

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;  ///< a part of the lexer's text; a string without its quotes
  std::uint32_t line = 0;

  [[nodiscard]] bool is(std::string_view what) const { return kind != TokenKind::string && text == what; }
};

/// `text` must outlive the lexer and its tokens. A word takes the dots and double colons in it, so that an
/// instruction with its modifiers, a directive and a special register are one word each.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }
  /// The token that comes next.
  [[nodiscard]] const Token& peek() const { return next_; }
  Token take();
  /// Skips what is left of a line, whose first token may be the next one.
  void skip_line(std::uint32_t line);

 private:
  void advance();
  void skip_blanks();

  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  Token next_;
};

}  // namespace draftscope::ptx
