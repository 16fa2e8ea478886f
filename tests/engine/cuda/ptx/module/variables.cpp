// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/module_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "module/literal.h"

namespace draftscope::ptx {

Result<Variable> Parser::variable() {
  Variable made;
  DRAFTSCOPE_TRY_ASSIGN(const std::string_view space, word("a state space"));
  const std::optional<Space> known = space_of_name(space.substr(std::min<std::size_t>(1, space.size())));
  made.line = lexer_.peek().line;
  if (!known) return fail("{}:{}: found {}, expected a state space", name_, made.line, space.substr(0, 60));
  made.space = *known;
  std::optional<Type> type;
  std::optional<std::size_t> align;
  while (lexer_.peek().kind == TokenKind::word && lexer_.peek().text.front() == '.') {
    const Token attribute = lexer_.take();
    if (attribute.is(".align")) {
      DRAFTSCOPE_TRY_ASSIGN(align, integer());
    } else if (attribute.is(".ptr") || attribute.is(".global") || attribute.is(".shared")) {
      continue;  // what a pointer parameter points to
    } else {
      type = type_of_name(attribute.text.substr(1));
      if (!type) return refuse(attribute, "a type");
    }
  }
  if (!type) return refuse(lexer_.peek(), "a type");
  DRAFTSCOPE_TRY_ASSIGN(made.name, word("a variable's name"));
  element_bytes_ = type_bytes(*type);
  made.align = made.space == Space::param && align && !lexer_.peek().is("[") ? element_bytes_
                                                                             : align.value_or(element_bytes_);
  if (made.align == 0 || (made.align & (made.align - 1)) != 0)
    return fail("{}:{}: {} is aligned to {}, expected a power of two", name_, made.line, made.name,
                made.align);
  std::size_t count = 1;
  while (take_if("[")) {
    if (take_if("]")) {
      count = 0;
      continue;
    }
    DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t dimension, integer());
    constexpr std::uint64_t max_count = std::uint64_t{1} << 32U;
    if (dimension > max_count || count * dimension > max_count)
      return fail("{}:{}: {} has {} elements, expected at most {}", name_, made.line, made.name, dimension,
                  max_count);
    count *= dimension;
    DRAFTSCOPE_TRY(expect("]"));
  }
  made.bytes = count * element_bytes_;
  if (take_if("=")) {
    DRAFTSCOPE_TRY(initial_values(made, *type));
    if (made.bytes == 0) made.bytes = made.initial.size();
    if (made.initial.size() > made.bytes)
      return fail("{}:{}: {} has {} bytes of initial values, expected at most {}", name_, made.line,
                  made.name, made.initial.size(), made.bytes);
    made.initial.resize(made.bytes);
  }
  return made;
}

Result<void> Parser::initial_values(Variable& made, Type type) {
  if (take_if("{")) {
    while (!take_if("}")) {
      DRAFTSCOPE_TRY(initial_values(made, type));
      if (!lexer_.peek().is("}")) DRAFTSCOPE_TRY(expect(","));
    }
    return {};
  }
  const bool is_negative = take_if("-");
  const Token token = lexer_.take();
  const std::optional<Operand> number = literal(token.text);
  if (token.kind != TokenKind::number || !number) return refuse(token, "a number");
  const bool takes_float = is_float(type);
  if (takes_float != (number->kind != Operand::Kind::integer))
    return refuse(token, "a number of the variable's type");
  if (takes_float && (is_negative || (type == Type::f32) != (number->kind == Operand::Kind::f32)))
    return refuse(token, "a float written as its bits");
  const std::uint64_t bits = is_negative ? 0 - number->value : number->value;
  std::array<std::uint8_t, sizeof bits> bytes{};
  std::memcpy(bytes.data(), &bits, sizeof bits);
  made.initial.insert(made.initial.end(), bytes.begin(),
                      bytes.begin() + static_cast<std::ptrdiff_t>(std::min(element_bytes_, sizeof bits)));
  return {};
}

Result<void> Parser::declaration(std::vector<Variable>& into, bool is_external) {
  DRAFTSCOPE_TRY_ASSIGN(Variable made, variable());
  made.is_external = is_external;
  if (names_.is_open())
    names_.add_variable(made.name, static_cast<std::int32_t>(into.size()));
  else
    module_names_[made.name] = static_cast<std::int32_t>(into.size());
  into.push_back(std::move(made));
  return expect(";");
}

}  // namespace draftscope::ptx
