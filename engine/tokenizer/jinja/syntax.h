// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A parsed template. The parser refuses filters, tests, functions and methods that are not implemented, by
// name.

#include <draftscope/base/result.h>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/jinja/value.h"

namespace draftscope::engine::jinja {

enum class ExpressionKind {
  literal,      // value
  name,         // name
  attribute,    // operands[0].name
  subscript,    // operands[0][operands[1]]
  slice,        // operands[0][operands[1]:operands[2]]; an omitted bound is none
  list,         // operands
  dictionary,   // key, value, key, value…
  call,         // name(operands…, keywords…)
  method,       // operands[0].name(operands[1]…)
  filter,       // operands[0] | name(operands[1]…)
  test,         // operands[0] is name(operands[1]…)
  unary,        // name is "not", "-" or "+"
  binary,       // name is the operator
  conditional,  // operands[0] if operands[1] else operands[2]
};

struct Expression {
  ExpressionKind kind;
  std::string name;
  Value value;
  std::vector<Expression> operands;
  std::vector<std::string> keyword_names;
  std::vector<Expression> keyword_values;
};

enum class StatementKind { text, output, set, branch, loop };

struct Statement;
using Block = std::vector<Statement>;

struct Statement {
  StatementKind kind;
  std::size_t line;
  std::string text;                     // text
  std::vector<std::string> targets;     // set: a name, or an object and its member; loop: names
  std::vector<Expression> expressions;  // output, set: one; loop: one and its filter; branch: conditions
  std::vector<Block> blocks;            // loop: one; branch: one per condition, then the else
};

[[nodiscard]] Result<Block> parse_template(std::string_view source);

}  // namespace draftscope::engine::jinja
