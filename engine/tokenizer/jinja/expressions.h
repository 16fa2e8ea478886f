// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parses the expressions in a template's tags.

#include <draftscope/base/result.h>

#include "tokenizer/jinja/syntax.h"
#include "tokenizer/jinja/token_reader.h"

namespace draftscope::engine::jinja {

[[nodiscard]] Result<Expression> parse_expression(TokenReader& tokens);
/// One expression, or a tuple of several separated by commas. In a loop's sequence none is conditional,
/// since an `if` begins the loop's condition.
[[nodiscard]] Result<Expression> parse_tuple(TokenReader& tokens, bool may_be_conditional = true);
/// The name and the arguments of a filter, applied to a value.
[[nodiscard]] Result<Expression> parse_filter(Expression value, TokenReader& tokens);
/// A value with the filters and tests after it.
[[nodiscard]] Result<Expression> parse_filters(Expression value, TokenReader& tokens);

}  // namespace draftscope::engine::jinja
