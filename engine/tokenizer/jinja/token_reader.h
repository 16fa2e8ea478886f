// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/quote.h>
#include <draftscope/base/result.h>
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tokenizer/jinja/lexer.h"

namespace draftscope::engine::jinja {

/// Limit that protects the stack from a hostile template; published ones stay below 20.
inline constexpr int deepest_nesting = 100;

/// Goes through a template's tokens and counts how deep its parts are nested.
class TokenReader {
 public:
  explicit TokenReader(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  const Token& take() {
    const Token& token = peek();
    ++at_;
    return token;
  }
  [[nodiscard]] bool is(TokenKind kind, std::string_view text = "", std::size_t ahead = 0) const {
    return peek(ahead).kind == kind && peek(ahead).text == text;
  }
  [[nodiscard]] bool is_symbol(std::string_view text) const { return is(TokenKind::symbol, text); }
  [[nodiscard]] bool is_word(std::string_view text) const { return is(TokenKind::name, text); }
  bool accept(TokenKind kind, std::string_view text = "") {
    const bool found = is(kind, text);
    if (found) ++at_;
    return found;
  }
  bool accept_symbol(std::string_view text) { return accept(TokenKind::symbol, text); }
  bool accept_word(std::string_view text) { return accept(TokenKind::name, text); }

  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view expected) const {
    const std::string& found = peek().text;
    return fail("line {}: {} where {} was expected", peek().line,
                found.empty() ? "'a tag's edge'" : quote(found), expected);
  }
  [[nodiscard]] tl::unexpected<Error> too_deep(int most = deepest_nesting) const {
    return fail("line {}: is nested too deep, expected at most {} levels", peek().line, most);
  }
  Result<void> expect(TokenKind kind, std::string_view text, std::string_view expected) {
    if (!accept(kind, text)) return unexpected(expected);
    return {};
  }
  Result<void> expect_symbol(std::string_view text) { return expect(TokenKind::symbol, text, text); }
  Result<void> expect_word(std::string_view text) { return expect(TokenKind::name, text, text); }
  Result<std::string> expect_name() {
    if (peek().kind != TokenKind::name) return unexpected("a name");
    return take().text;
  }

  /// Counts a level of nesting as long as it lives.
  class Level {
   public:
    explicit Level(TokenReader& tokens) : tokens_(tokens) { ++tokens_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --tokens_.depth_; }
    [[nodiscard]] Result<void> check() const {
      if (tokens_.depth_ > deepest_nesting) return tokens_.too_deep();
      return {};
    }

   private:
    TokenReader& tokens_;
  };

 private:
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace draftscope::engine::jinja
