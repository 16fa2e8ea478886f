// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A PTX module as read: every name resolved, nothing laid out.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "module/types.h"

namespace draftscope::ptx {

/// A variable or a kernel's parameter.
struct Variable {
  std::string_view name;
  Space space = Space::global;
  std::size_t align = 1;
  std::size_t bytes = 0;  ///< 0 of an external array, which a launch gives its size
  bool is_external = false;
  std::vector<std::uint8_t> initial;  ///< empty = zeros
  std::uint32_t line = 0;
};

struct Operand {
  enum class Kind : std::uint8_t {
    reg,
    integer,
    f32,
    f64,
    symbol,
    special,
    address,
    vector,
    label,
    function,
    sink
  };
  enum class Base : std::uint8_t { none, reg, symbol };

  Kind kind = Kind::sink;
  Base base = Base::none;    ///< of an address
  bool of_module = false;    ///< a symbol's place: the module's variables, or its entry's
  bool is_negated = false;   ///< a predicate's "!"
  std::int32_t index = -1;   ///< of a register, symbol or instruction (a label's)
  std::int32_t second = -1;  ///< register of the predicate behind a "|"; -1 = none
  std::uint64_t value = 0;   ///< bits of an integer or float, an address's offset
  std::string_view name;     ///< of a special register, of a function
  std::vector<Operand> elements;
};

/// Line of CUDA source that an instruction comes from, by .loc; 0 = unknown.
struct SourceLine {
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

struct Instruction {
  std::string_view spelling;  ///< with all its modifiers
  std::uint32_t line = 0;     ///< of the PTX text, from 1
  SourceLine source;
  std::int32_t guard = -1;  ///< register of the predicate that it runs under; -1 = always
  bool guard_is_negated = false;
  std::vector<Operand> operands;
};

struct Register {
  std::string_view name;     ///< without its number
  std::int32_t number = -1;  ///< -1 = has none
  Type type = Type::b32;
};

struct Entry {
  std::string_view name;
  std::uint32_t line = 0;
  std::vector<Variable> variables;  ///< parameters first, in their order; then local and shared ones
  std::size_t n_parameters = 0;
  std::vector<Register> registers;
  std::vector<Instruction> instructions;
  std::size_t required_threads = 0;  ///< .reqntid's product; 0 = none
  std::size_t max_threads = 0;       ///< .maxntid's product; 0 = none
};

struct Module {
  std::unique_ptr<const std::string> text;  ///< all names are parts of it
  std::string_view target;
  std::vector<Variable> variables;
  std::vector<Entry> entries;
  std::map<std::uint32_t, std::string_view> source_files;
};

}  // namespace draftscope::ptx
