// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/lexer.h"

namespace draftscope::ptx {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' || c == '.';
}

}  // namespace

Token Lexer::take() {
  const Token taken = next_;
  advance();
  return taken;
}

void Lexer::skip_line(std::uint32_t line) {
  while (next_.kind != TokenKind::end && next_.line == line) advance();
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t close = text_.find("*/", at_ + 2);
      const std::size_t end = close == std::string_view::npos ? text_.size() : close + 2;
      for (; at_ < end; ++at_)
        if (text_[at_] == '\n') ++line_;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  next_ = {TokenKind::end, {}, line_};
  if (at_ == text_.size()) return;
  const std::size_t begin = at_;
  const char first = text_[at_++];
  const auto here = [&] { return at_ < text_.size() ? text_[at_] : '\0'; };
  if (is_letter(first)) {
    next_.kind = TokenKind::word;
    for (;;) {
      if (is_letter(here()) || is_digit(here()))
        ++at_;
      else if (text_.substr(at_, 2) == "::")
        at_ += 2;
      else
        break;
    }
  } else if (is_digit(first)) {
    next_.kind = TokenKind::number;
    const bool is_plain = text_.substr(begin, 2) != "0x" && text_.substr(begin, 2) != "0X";
    while (is_letter(here()) || is_digit(here())) {
      const bool is_exponent = is_plain && (here() == 'e' || here() == 'E');
      ++at_;
      if (is_exponent && (here() == '-' || here() == '+')) ++at_;
    }
  } else if (first == '"') {
    next_.kind = TokenKind::string;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') ++at_;
    next_.text = text_.substr(begin + 1, at_ - begin - 1);
    if (here() == '"') ++at_;
    return;
  } else {
    next_.kind = TokenKind::punctuation;
  }
  next_.text = text_.substr(begin, at_ - begin);
}

}  // namespace draftscope::ptx
