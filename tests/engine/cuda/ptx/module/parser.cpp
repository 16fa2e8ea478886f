// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/module_parser.h"

#include <optional>
#include <utility>

#include "module/literal.h"
#include "module/parser.h"

namespace draftscope::ptx {

Parser::Parser(std::string_view name, std::string text)
    : name_(name), text_(std::make_unique<const std::string>(std::move(text))), lexer_(*text_) {}

tl::unexpected<Error> Parser::refuse(const Token& found, std::string_view expected) const {
  const std::string_view shown = found.kind == TokenKind::end ? "the end" : found.text.substr(0, 60);
  return fail("{}:{}: found {}, expected {}", name_, found.line, shown, expected);
}

Result<void> Parser::expect(std::string_view what) {
  const Token token = lexer_.take();
  if (!token.is(what)) return refuse(token, what);
  return {};
}

bool Parser::take_if(std::string_view what) {
  if (!lexer_.peek().is(what)) return false;
  lexer_.take();
  return true;
}

Result<std::string_view> Parser::word(std::string_view expected) {
  const Token token = lexer_.take();
  if (token.kind != TokenKind::word) return refuse(token, expected);
  return token.text;
}

Result<std::uint64_t> Parser::integer() {
  const bool is_negative = take_if("-");
  const Token token = lexer_.take();
  const std::optional<Operand> number = literal(token.text);
  if (token.kind != TokenKind::number || !number || number->kind != Operand::Kind::integer)
    return refuse(token, "an integer");
  return is_negative ? 0 - number->value : number->value;
}

Result<Module> Parser::run() {
  while (lexer_.peek().kind != TokenKind::end) DRAFTSCOPE_TRY(top_level());
  module_.text = std::move(text_);
  return std::move(module_);
}

Result<void> Parser::top_level() {
  const Token token = lexer_.peek();
  if (token.kind != TokenKind::word) return refuse(token, "a directive");
  if (token.is(".version") || token.is(".address_size")) {
    lexer_.skip_line(token.line);
    return {};
  }
  if (token.is(".target")) {
    lexer_.take();
    DRAFTSCOPE_TRY_ASSIGN(module_.target, word("a target"));
    lexer_.skip_line(token.line);
    return {};
  }
  if (token.is(".file")) return source_file();
  if (token.is(".section")) return section();
  if (token.is(".pragma")) return pragma();
  bool is_external = false;
  for (;;) {
    const Token linkage = lexer_.peek();
    if (!linkage.is(".visible") && !linkage.is(".extern") && !linkage.is(".weak") && !linkage.is(".common"))
      break;
    is_external = is_external || linkage.is(".extern");
    lexer_.take();
  }
  if (lexer_.peek().is(".entry")) return entry();
  if (is_external && lexer_.peek().is(".func")) return external_function();
  const Token variable = lexer_.peek();
  if (!variable.is(".global") && !variable.is(".shared") && !variable.is(".const"))
    return refuse(variable, ".entry, .global, .shared or .const");
  return declaration(module_.variables, is_external);
}

Result<void> Parser::source_file() {
  const Token directive = lexer_.take();
  DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t number, integer());
  const Token path = lexer_.take();
  if (path.kind != TokenKind::string) return refuse(path, "a file's name");
  module_.source_files[static_cast<std::uint32_t>(number)] = path.text;
  lexer_.skip_line(directive.line);
  return {};
}

Result<void> Parser::section() {
  while (lexer_.peek().kind != TokenKind::end && !lexer_.peek().is("{")) lexer_.take();
  std::size_t depth = 0;
  do {
    const Token token = lexer_.take();
    if (token.kind == TokenKind::end) return refuse(token, "the section's closing brace");
    if (token.is("{")) ++depth;
    if (token.is("}")) --depth;
  } while (depth > 0);
  return {};
}

Result<void> Parser::pragma() {
  lexer_.take();
  lexer_.take();
  return expect(";");
}

Result<void> Parser::external_function() {
  lexer_.take();
  const Token name = lexer_.peek();
  while (lexer_.peek().kind != TokenKind::end && !lexer_.peek().is(";")) lexer_.take();
  return take_if(";") ? Result<void>() : refuse(name, "a function's name, its parameters and a semicolon");
}

Result<Module> parse_module(std::string_view name, std::string text) {
  return Parser(name, std::move(text)).run();
}

}  // namespace draftscope::ptx
