// SPDX-License-Identifier: GPL-3.0-or-later
#include "module/module_parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "module/literal.h"

namespace draftscope::ptx {

Result<void> Parser::entry() {
  entry_ = {};
  source_ = {};
  entry_.line = lexer_.take().line;
  DRAFTSCOPE_TRY_ASSIGN(entry_.name, word("a kernel's name"));
  names_ = {};
  names_.open();
  if (take_if("(")) {
    while (!take_if(")")) {
      DRAFTSCOPE_TRY_ASSIGN(Variable parameter, variable());
      if (parameter.space != Space::param)
        return fail("{}:{}: {} is no parameter, expected .param", name_, parameter.line, parameter.name);
      names_.add_variable(parameter.name, static_cast<std::int32_t>(entry_.variables.size()));
      entry_.variables.push_back(std::move(parameter));
      if (!lexer_.peek().is(")")) DRAFTSCOPE_TRY(expect(","));
    }
  }
  entry_.n_parameters = entry_.variables.size();
  DRAFTSCOPE_TRY(launch_bounds());
  DRAFTSCOPE_TRY(expect("{"));
  while (names_.is_open()) DRAFTSCOPE_TRY(statement());
  module_.entries.push_back(std::move(entry_));
  return {};
}

Result<void> Parser::launch_bounds() {
  while (!lexer_.peek().is("{")) {
    const Token directive = lexer_.peek();
    if (directive.is(".pragma")) {
      DRAFTSCOPE_TRY(pragma());
      continue;
    }
    constexpr std::array<std::string_view, 7> known = {".maxntid",          ".reqntid", ".minnctapersm",
                                                       ".maxnctapersm",     ".maxnreg", ".maxclusterrank",
                                                       ".reqnctapercluster"};
    if (std::find(known.begin(), known.end(), directive.text) == known.end())
      return refuse(directive, "a kernel's body or bounds");
    lexer_.take();
    std::size_t product = 1;
    do {
      DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t value, integer());
      product *= value;
    } while (take_if(","));
    if (directive.is(".maxntid")) entry_.max_threads = product;
    if (directive.is(".reqntid")) entry_.required_threads = product;
  }
  return {};
}

Result<void> Parser::statement() {
  const Token token = lexer_.peek();
  if (token.is("{")) {
    lexer_.take();
    names_.open();
    return {};
  }
  if (token.is("}")) return end_of_scope();
  if (token.is("@")) return instruction();
  if (token.kind != TokenKind::word) return refuse(token, "an instruction");
  if (token.text.front() == '.') return directive();
  return instruction();
}

Result<void> Parser::end_of_scope() {
  const Token token = lexer_.take();
  const std::optional<Names::LabelUse> missing = names_.close(entry_);
  if (missing)
    return fail("{}:{}: branch to {}, expected a label of its kernel", name_,
                entry_.instructions[missing->instruction].line, missing->label.substr(0, 60));
  if (!names_.is_open()) {
    Instruction end;
    end.spelling = "ret";
    end.line = token.line;
    entry_.instructions.push_back(std::move(end));
  }
  return {};
}

Result<void> Parser::directive() {
  const Token token = lexer_.peek();
  if (token.is(".loc")) return source_line();
  if (token.is(".pragma")) return pragma();
  if (token.is(".reg")) return register_declaration();
  if (token.is(".param")) return argument_declaration();
  if (token.is(".local") || token.is(".shared")) return declaration(entry_.variables, false);
  return refuse(token, ".reg, .param, .local, .shared, .loc or .pragma");
}

Result<void> Parser::source_line() {
  const Token token = lexer_.take();
  DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t file, integer());
  DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t line, integer());
  source_ = {static_cast<std::uint32_t>(file), static_cast<std::uint32_t>(line)};
  lexer_.skip_line(token.line);
  return {};
}

Result<void> Parser::register_declaration() {
  lexer_.take();
  const Token token = lexer_.take();
  const std::optional<Type> type =
      token.kind == TokenKind::word ? type_of_name(token.text.substr(1)) : std::nullopt;
  if (!type || type_bytes(*type) > 8) return refuse(token, "a register's type");
  do {
    DRAFTSCOPE_TRY_ASSIGN(const std::string_view name, word("a register's name"));
    if (take_if("<")) {
      DRAFTSCOPE_TRY_ASSIGN(const std::uint64_t count, integer());
      constexpr std::uint64_t max_registers = 1'000'000;
      if (count > max_registers)
        return fail("{}:{}: {} registers {}, expected at most {}", name_, token.line, count, name,
                    max_registers);
      names_.add_registers(entry_, name, static_cast<std::int32_t>(count), *type);
      DRAFTSCOPE_TRY(expect(">"));
    } else {
      names_.add_register(entry_, name, *type);
    }
  } while (take_if(","));
  return expect(";");
}

Result<void> Parser::argument_declaration() {
  lexer_.take();
  const Token token = lexer_.take();
  const std::optional<Type> type =
      token.kind == TokenKind::word ? type_of_name(token.text.substr(1)) : std::nullopt;
  if (type != Type::b32 && type != Type::b64) return refuse(token, "an argument of type .b32 or .b64");
  DRAFTSCOPE_TRY_ASSIGN(const std::string_view name, word("an argument's name"));
  names_.add_register(entry_, name, *type);
  return expect(";");
}

Result<void> Parser::make_move(Instruction& store) const {
  const bool is_argument = store.operands.size() == 2 && store.operands[0].kind == Operand::Kind::address &&
                           store.operands[0].base == Operand::Base::reg && store.operands[0].value == 0;
  if (!is_argument)
    return fail("{}:{}: a store to another parameter, expected a call's argument", name_, store.line);
  store.spelling = store.spelling.ends_with("64") ? "mov.b64" : "mov.b32";
  store.operands[0].kind = Operand::Kind::reg;
  return {};
}

Result<void> Parser::call_operands(Instruction& made) {
  Operand function{.kind = Operand::Kind::function};
  DRAFTSCOPE_TRY_ASSIGN(function.name, word("a function"));
  made.operands.push_back(std::move(function));
  if (!take_if(",")) return {};
  DRAFTSCOPE_TRY(expect("("));
  while (!take_if(")")) {
    DRAFTSCOPE_TRY_ASSIGN(Operand argument, parse_operand());
    if (argument.kind != Operand::Kind::reg)
      return fail("{}:{}: a call with another argument, expected one that the kernel declares", name_,
                  made.line);
    made.operands.push_back(std::move(argument));
    if (!lexer_.peek().is(")")) DRAFTSCOPE_TRY(expect(","));
  }
  return {};
}

Result<void> Parser::instruction() {
  Instruction made;
  made.line = lexer_.peek().line;
  made.source = source_;
  if (take_if("@")) {
    made.guard_is_negated = take_if("!");
    const Token guard = lexer_.take();
    const std::optional<std::int32_t> found = names_.find_register(guard.text);
    if (!found || entry_.registers[static_cast<std::size_t>(*found)].type != Type::pred)
      return refuse(guard, "a predicate register");
    made.guard = *found;
  }
  DRAFTSCOPE_TRY_ASSIGN(made.spelling, word("an instruction"));
  if (made.guard < 0 && take_if(":")) {
    if (!names_.add_label(made.spelling, static_cast<std::int32_t>(entry_.instructions.size())))
      return fail("{}:{}: a second label {}, expected another name", name_, made.line,
                  made.spelling.substr(0, 60));
    return {};
  }
  const std::size_t index = entry_.instructions.size();
  if (made.spelling == "call" || made.spelling.starts_with("call.")) DRAFTSCOPE_TRY(call_operands(made));
  while (!lexer_.peek().is(";")) {
    DRAFTSCOPE_TRY_ASSIGN(Operand operand, parse_operand());
    if (operand.kind == Operand::Kind::label) names_.use_label({index, made.operands.size(), operand.name});
    made.operands.push_back(std::move(operand));
    if (!lexer_.peek().is(";")) DRAFTSCOPE_TRY(expect(","));
  }
  lexer_.take();
  if (made.spelling.starts_with("st.param.")) DRAFTSCOPE_TRY(make_move(made));
  entry_.instructions.push_back(std::move(made));
  return {};
}

}  // namespace draftscope::ptx
