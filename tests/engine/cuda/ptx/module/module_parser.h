// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parser of a module, whose parts are a file each: parser.cpp (what stands outside of kernels),
// variables.cpp, kernels.cpp (bodies) and operands.cpp.

#include <draftscope/base/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "module/lexer.h"
#include "module/module.h"
#include "module/names.h"

namespace draftscope::ptx {

/// Reads one module, once.
class Parser {
 public:
  Parser(std::string_view name, std::string text);
  Result<Module> run();

 private:
  tl::unexpected<Error> refuse(const Token& found, std::string_view expected) const;
  Result<void> expect(std::string_view what);
  bool take_if(std::string_view what);
  Result<std::string_view> word(std::string_view expected);
  Result<std::uint64_t> integer();

  // Outside of kernels
  Result<void> top_level();
  Result<void> source_file();
  Result<void> section();
  Result<void> pragma();
  /// A function that is elsewhere: its name and parameters, which calls of it name again.
  Result<void> external_function();

  // Variables
  /// ".space .align N .type name[count] = initial": up to and with the semicolon, or a parameter up to its
  /// comma.
  Result<Variable> variable();
  Result<void> initial_values(Variable& made, Type type);
  Result<void> declaration(std::vector<Variable>& into, bool is_external);

  // Kernels
  Result<void> entry();
  Result<void> launch_bounds();
  Result<void> statement();
  Result<void> end_of_scope();
  Result<void> directive();
  Result<void> source_line();
  Result<void> register_declaration();
  /// An argument of a call, ".param .type name;" in a body: a register here, as only single numbers are
  /// passed.
  Result<void> argument_declaration();
  Result<void> instruction();
  /// Turns a store into an argument of a call, which is a register.
  Result<void> make_move(Instruction& store) const;
  /// "function, (argument, …)" of a call that returns nothing.
  Result<void> call_operands(Instruction& made);

  // Operands
  Result<Operand> parse_operand();
  bool find_symbol(std::string_view name, Operand& made) const;
  Result<Operand> number();
  Result<Operand> address();
  Result<Operand> vector();

  std::string_view name_;
  std::unique_ptr<const std::string> text_;
  Lexer lexer_;
  Module module_;
  Entry entry_;
  Names names_;
  std::unordered_map<std::string_view, std::int32_t> module_names_;
  SourceLine source_;
  std::size_t element_bytes_ = 1;
};

}  // namespace draftscope::ptx
