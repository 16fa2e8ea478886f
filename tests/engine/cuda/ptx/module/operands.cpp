// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/module_parser.h"

#include <optional>
#include <utility>

#include "module/literal.h"

namespace draftscope::ptx {

Result<Operand> Parser::parse_operand() {
  const Token token = lexer_.peek();
  if (token.is("[")) return address();
  if (token.is("{")) return vector();
  if (token.kind == TokenKind::number || token.is("-")) return number();
  Operand made;
  made.is_negated = take_if("!");
  DRAFTSCOPE_TRY_ASSIGN(const std::string_view name, word("an operand"));
  if (name == "_") return made;
  if (const std::optional<std::int32_t> found = names_.find_register(name)) {
    made.kind = Operand::Kind::reg;
    made.index = *found;
    if (take_if("|")) {
      const Token second = lexer_.take();
      const std::optional<std::int32_t> predicate = names_.find_register(second.text);
      if (!predicate || entry_.registers[static_cast<std::size_t>(*predicate)].type != Type::pred)
        return refuse(second, "a predicate register");
      made.second = *predicate;
    }
    return made;
  }
  if (made.is_negated) return refuse(token, "a predicate register behind !");
  if (name == "WARP_SZ") {
    made.kind = Operand::Kind::integer;
    made.value = 32;
  } else if (name.front() == '%') {
    made.kind = Operand::Kind::special;
    made.name = name;
  } else if (find_symbol(name, made)) {
    made.kind = Operand::Kind::symbol;
    if (take_if("+")) {
      DRAFTSCOPE_TRY_ASSIGN(made.value, integer());
    }
  } else {
    made.kind = Operand::Kind::label;
    made.name = name;
  }
  return made;
}

bool Parser::find_symbol(std::string_view name, Operand& made) const {
  if (const std::optional<std::int32_t> found = names_.find_variable(name)) {
    made.index = *found;
    return true;
  }
  const auto found = module_names_.find(name);
  if (found == module_names_.end()) return false;
  made.of_module = true;
  made.index = found->second;
  return true;
}

Result<Operand> Parser::number() {
  const bool is_negative = take_if("-");
  const Token token = lexer_.take();
  std::optional<Operand> made = literal(token.text);
  if (token.kind != TokenKind::number || !made) return refuse(token, "a number");
  if (is_negative) {
    if (made->kind == Operand::Kind::integer) made->value = 0 - made->value;
    if (made->kind == Operand::Kind::f32) made->value ^= std::uint64_t{1} << 31U;
    if (made->kind == Operand::Kind::f64) made->value ^= std::uint64_t{1} << 63U;
  }
  return *std::move(made);
}

Result<Operand> Parser::address() {
  lexer_.take();
  Operand made;
  made.kind = Operand::Kind::address;
  const Token token = lexer_.peek();
  if (token.kind == TokenKind::number) {
    DRAFTSCOPE_TRY_ASSIGN(made.value, integer());
    DRAFTSCOPE_TRY(expect("]"));
    return made;
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::string_view name, word("an address"));
  if (const std::optional<std::int32_t> found = names_.find_register(name)) {
    made.base = Operand::Base::reg;
    made.index = *found;
  } else if (find_symbol(name, made)) {
    made.base = Operand::Base::symbol;
  } else {
    return refuse(token, "a register or a variable of the kernel");
  }
  if (take_if("+")) {
    DRAFTSCOPE_TRY_ASSIGN(made.value, integer());
  }
  DRAFTSCOPE_TRY(expect("]"));
  return made;
}

Result<Operand> Parser::vector() {
  lexer_.take();
  Operand made;
  made.kind = Operand::Kind::vector;
  while (!take_if("}")) {
    DRAFTSCOPE_TRY_ASSIGN(Operand element, parse_operand());
    if (element.kind == Operand::Kind::label || element.kind == Operand::Kind::vector)
      return fail("{}:{}: found {} in a vector, expected registers or numbers", name_, lexer_.peek().line,
                  element.kind == Operand::Kind::label ? element.name.substr(0, 60) : "a vector");
    made.elements.push_back(std::move(element));
    if (!lexer_.peek().is("}")) DRAFTSCOPE_TRY(expect(","));
  }
  return made;
}

}  // namespace draftscope::ptx
