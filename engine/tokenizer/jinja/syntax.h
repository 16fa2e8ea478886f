// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A parsed template. Names of filters, tests, functions and methods are looked up when they are reached.

#include <draftscope/base/result.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

enum class ExpressionKind : std::uint8_t {
  literal,      // value
  name,         // name
  attribute,    // operands[0].name
  subscript,    // operands[0][operands[1]]
  slice,        // operands[0][operands[1]:operands[2]:operands[3]]; what is omitted is none
  list,         // operands
  tuple,        // operands
  dictionary,   // key, value, key, value…
  call,         // operands[0](operands[1]…, keywords…)
  filter,       // operands[0] | name(operands[1]…, keywords…)
  test,         // operands[0] is name(operands[1]…, keywords…)
  spread,       // *operands[0], or **operands[0] if name is "**"; an argument of a call
  unary,        // name is "not", "-" or "+"
  binary,       // name is the operator
  comparison,   // operands[0] names[0] operands[1] names[1] operands[2]…
  conditional,  // operands[0] if operands[1] else operands[2]
};

struct Expression {
  ExpressionKind kind = ExpressionKind::literal;
  std::string name{};
  Value value{};
  std::vector<Expression> operands{};
  std::vector<std::string> names{};  ///< Keywords of a call, or comparisons of a chain.
  std::vector<Expression> keyword_values{};
};

enum class StatementKind : std::uint8_t {
  text,
  output,       // expressions[0]
  set,          // targets[0] = expressions[0]
  set_block,    // targets[0] = what the block writes; expressions[0] filters it, if there is one
  branch,       // expressions are the conditions, and the blocks belong to them; one more is the else
  loop,         // for targets[0] in expressions[0] if expressions[1]; blocks: body, else
  with,         // targets[i] = expressions[i]
  macro,        // text is the name, targets the parameters; expressions are the defaults of the last ones
  call,         // expressions[0] is called with the macro that targets and blocks make, as its caller
  filter,       // expressions[0] filters what the block writes
  scope,        // the block has variables of its own
  leave,        // text is "break" or "continue"
  unsupported,  // text is the name of what needs other templates
};

/// Where a value goes: a name, a namespace's member, or several of them.
struct Target {
  std::string name{};
  std::string member{};
  std::vector<Target> parts{};
};

struct Statement;
using Block = std::vector<Statement>;

/// A statement. An expression that filters a block has an operand of kind `name` without a name for the
/// block.
struct Statement {
  StatementKind kind = StatementKind::text;
  std::size_t line = 1;
  std::string text{};
  std::vector<Target> targets{};
  std::vector<Expression> expressions{};
  std::vector<Block> blocks{};
  bool recursive = false;
};

[[nodiscard]] Result<Block> parse_template(std::string_view source);

}  // namespace draftscope::engine::jinja
