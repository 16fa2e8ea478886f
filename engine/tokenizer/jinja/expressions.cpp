// SPDX-License-Identifier: GPL-3.0-or-later
#include "tokenizer/jinja/expressions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace draftscope::engine::jinja {
namespace {

/// Limit of a tree of expressions, each of which may be nested as deep as the tokens allow.
constexpr int deepest_tree = 400;

int tree_depth(const Expression& expression) {
  int deepest = 0;
  for (const Expression& operand : expression.operands) deepest = std::max(deepest, tree_depth(operand));
  for (const Expression& value : expression.keyword_values) deepest = std::max(deepest, tree_depth(value));
  return deepest + 1;
}

template <typename... Parts>
Expression node(ExpressionKind kind, std::string name, Parts... parts) {
  Expression made{.kind = kind, .name = std::move(name)};
  (made.operands.push_back(std::move(parts)), ...);
  return made;
}

Expression literal(Value value) {
  return {.kind = ExpressionKind::literal, .value = std::move(value)};
}

Result<Expression> parse_number(const Token& token) {
  const char* const end = token.text.data() + token.text.size();
  std::from_chars_result read{};
  Value value;
  if (token.kind == TokenKind::number) {
    double number = 0;
    read = std::from_chars(token.text.data(), end, number);
    value = number;
  } else {
    std::int64_t number = 0;
    const char base = token.text.size() > 2 && token.text[0] == '0' ? token.text[1] : '\0';
    const int radix = base == 'x' || base == 'X'   ? 16
                      : base == 'o' || base == 'O' ? 8
                      : base == 'b' || base == 'B' ? 2
                                                   : 10;
    read = std::from_chars(token.text.data() + (radix == 10 ? 0 : 2), end, number, radix);
    value = number;
  }
  if (read.ec != std::errc() || read.ptr != end)
    return fail("line {}: number {} is too large, expected at most 64 bits", token.line,
                token.text.substr(0, 40));
  return literal(std::move(value));
}

Expression parse_name(const std::string& text) {
  if (text == "true" || text == "True") return literal(true);
  if (text == "false" || text == "False") return literal(false);
  if (text == "none" || text == "None") return literal(None{});
  return {.kind = ExpressionKind::name, .name = text};
}

/// The rest of a list or a dictionary after its opening bracket.
Result<Expression> parse_collection(ExpressionKind kind, std::string_view close, TokenReader& tokens) {
  Expression collection{.kind = kind};
  while (!tokens.accept_symbol(close)) {
    DRAFTSCOPE_TRY_ASSIGN(collection.operands.emplace_back(), parse_expression(tokens));
    if (kind == ExpressionKind::dictionary) {
      DRAFTSCOPE_TRY(tokens.expect_symbol(":"));
      DRAFTSCOPE_TRY_ASSIGN(collection.operands.emplace_back(), parse_expression(tokens));
    }
    if (!tokens.is_symbol(close)) DRAFTSCOPE_TRY(tokens.expect_symbol(","));
  }
  return collection;
}

Result<Expression> parse_primary(TokenReader& tokens) {
  switch (tokens.peek().kind) {
    case TokenKind::string: {
      std::string text;
      while (tokens.peek().kind == TokenKind::string) text += tokens.take().text;
      return literal(Value(std::move(text), Charge()));
    }
    case TokenKind::integer:
    case TokenKind::number:
      return parse_number(tokens.take());
    case TokenKind::name:
      return parse_name(tokens.take().text);
    default:
      break;
  }
  if (tokens.accept_symbol("[")) return parse_collection(ExpressionKind::list, "]", tokens);
  if (tokens.accept_symbol("{")) return parse_collection(ExpressionKind::dictionary, "}", tokens);
  if (!tokens.accept_symbol("(")) return tokens.unexpected("a value");
  if (tokens.accept_symbol(")")) return Expression{.kind = ExpressionKind::tuple};
  DRAFTSCOPE_TRY_ASSIGN(auto inside, parse_tuple(tokens));
  DRAFTSCOPE_TRY(tokens.expect_symbol(")"));
  return inside;
}

Result<void> parse_arguments(Expression& call, TokenReader& tokens) {
  DRAFTSCOPE_TRY(tokens.expect_symbol("("));
  while (!tokens.accept_symbol(")")) {
    const bool spreads = tokens.is_symbol("*") || tokens.is_symbol("**");
    const std::string stars = spreads ? tokens.take().text : std::string();
    if (!spreads && tokens.peek().kind == TokenKind::name && tokens.is(TokenKind::symbol, "=", 1)) {
      call.names.push_back(tokens.take().text);
      tokens.take();
      DRAFTSCOPE_TRY_ASSIGN(call.keyword_values.emplace_back(), parse_expression(tokens));
    } else {
      DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression(tokens));
      call.operands.push_back(spreads ? node(ExpressionKind::spread, stars, std::move(value))
                                      : std::move(value));
    }
    if (!tokens.is_symbol(")")) DRAFTSCOPE_TRY(tokens.expect_symbol(","));
  }
  return {};
}

/// The rest of an index or a slice after its opening bracket.
Result<Expression> parse_subscript(Expression value, TokenReader& tokens) {
  std::array<Expression, 3> bounds{literal(None{}), literal(None{}), literal(None{})};
  std::size_t place = 0;
  bool given = false;
  while (!tokens.accept_symbol("]")) {
    if (tokens.accept_symbol(":")) {
      if (++place == bounds.size()) return tokens.unexpected("]");
      given = false;
      continue;
    }
    if (given) return tokens.unexpected("]");
    DRAFTSCOPE_TRY_ASSIGN(bounds.at(place), parse_tuple(tokens));
    given = true;
  }
  if (place == 0 && !given) return tokens.unexpected("an index");
  if (place == 0) return node(ExpressionKind::subscript, {}, std::move(value), std::move(bounds[0]));
  return node(ExpressionKind::slice, {}, std::move(value), std::move(bounds[0]), std::move(bounds[1]),
              std::move(bounds[2]));
}

/// A value with the members, indices and calls after it.
Result<Expression> parse_postfix(Expression value, TokenReader& tokens) {
  for (int length = 0;; ++length) {
    if (length == deepest_nesting) return tokens.too_deep();
    if (tokens.accept_symbol(".")) {
      if (tokens.peek().kind == TokenKind::integer) {
        DRAFTSCOPE_TRY_ASSIGN(auto index, parse_number(tokens.take()));
        value = node(ExpressionKind::subscript, {}, std::move(value), std::move(index));
        continue;
      }
      DRAFTSCOPE_TRY_ASSIGN(auto name, tokens.expect_name());
      value = node(ExpressionKind::attribute, std::move(name), std::move(value));
    } else if (tokens.accept_symbol("[")) {
      DRAFTSCOPE_TRY_ASSIGN(value, parse_subscript(std::move(value), tokens));
    } else if (tokens.is_symbol("(")) {
      value = node(ExpressionKind::call, {}, std::move(value));
      DRAFTSCOPE_TRY(parse_arguments(value, tokens));
    } else {
      return value;
    }
  }
}

Result<std::string> parse_dotted_name(TokenReader& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(std::string name, tokens.expect_name());
  while (tokens.accept_symbol(".")) {
    DRAFTSCOPE_TRY_ASSIGN(const auto part, tokens.expect_name());
    name += "." + part;
  }
  return name;
}

/// The name of a test after its `is`, and its arguments: in brackets, or one without.
Result<Expression> parse_test(Expression value, TokenReader& tokens) {
  const bool negated = tokens.accept_word("not");
  DRAFTSCOPE_TRY_ASSIGN(auto name, parse_dotted_name(tokens));
  value = node(ExpressionKind::test, std::move(name), std::move(value));
  const TokenKind kind = tokens.peek().kind;
  const bool opens = tokens.is_symbol("[") || tokens.is_symbol("{") || kind == TokenKind::string ||
                     kind == TokenKind::integer || kind == TokenKind::number;
  const bool names =
      kind == TokenKind::name && !tokens.is_word("else") && !tokens.is_word("or") && !tokens.is_word("and");
  if (tokens.is_symbol("(")) {
    DRAFTSCOPE_TRY(parse_arguments(value, tokens));
  } else if (opens || names) {
    if (tokens.is_word("is")) return tokens.unexpected("one test");
    DRAFTSCOPE_TRY_ASSIGN(auto argument, parse_primary(tokens));
    DRAFTSCOPE_TRY_ASSIGN(value.operands.emplace_back(), parse_postfix(std::move(argument), tokens));
  }
  return negated ? node(ExpressionKind::unary, "not", std::move(value)) : std::move(value);
}

Result<Expression> parse_unary(TokenReader& tokens) {
  const TokenReader::Level level(tokens);
  DRAFTSCOPE_TRY(level.check());
  if (!tokens.is_symbol("-") && !tokens.is_symbol("+")) {
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_primary(tokens));
    return parse_postfix(std::move(value), tokens);
  }
  std::string sign = tokens.take().text;
  DRAFTSCOPE_TRY_ASSIGN(auto value, parse_unary(tokens));
  return parse_postfix(node(ExpressionKind::unary, std::move(sign), std::move(value)), tokens);
}

/// Binary operators of one precedence, which bind from left to right.
struct Operators {
  TokenKind kind;
  std::array<std::string_view, 4> names;
};
/// From lowest to highest precedence. Negations and comparisons come before the sums.
constexpr std::array<Operators, 6> precedences{{{TokenKind::name, {"or"}},
                                                {TokenKind::name, {"and"}},
                                                {TokenKind::symbol, {"+", "-"}},
                                                {TokenKind::symbol, {"~"}},
                                                {TokenKind::symbol, {"*", "/", "//", "%"}},
                                                {TokenKind::symbol, {"**"}}}};
constexpr std::size_t sums = 2;

Result<Expression> parse_negation(TokenReader& tokens);

/// An expression of operators of this precedence and higher ones.
Result<Expression> parse_binary(std::size_t precedence, TokenReader& tokens) {
  const auto parse_next = [&]() -> Result<Expression> {
    if (precedence + 1 == sums) return parse_negation(tokens);
    if (precedence + 1 < precedences.size()) return parse_binary(precedence + 1, tokens);
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_unary(tokens));
    return parse_filters(std::move(value), tokens);
  };
  const auto& [kind, names] = precedences.at(precedence);
  DRAFTSCOPE_TRY_ASSIGN(auto left, parse_next());
  // A chain makes the tree deeper on the left, and evaluation recurses into it.
  for (int length = 0; tokens.peek().kind == kind; ++length) {
    if (std::ranges::find(names, tokens.peek().text) == names.end()) break;
    if (length == deepest_nesting) return tokens.too_deep();
    const std::string name = tokens.take().text;
    DRAFTSCOPE_TRY_ASSIGN(auto right, parse_next());
    left = node(ExpressionKind::binary, name, std::move(left), std::move(right));
  }
  return left;
}

/// The comparison that comes next, or an empty text.
std::string take_comparison(TokenReader& tokens) {
  static constexpr std::array<std::string_view, 6> comparisons{"==", "!=", "<=", ">=", "<", ">"};
  if (tokens.peek().kind == TokenKind::symbol &&
      std::ranges::find(comparisons, tokens.peek().text) != comparisons.end())
    return tokens.take().text;
  if (tokens.accept_word("in")) return "in";
  if (!tokens.is_word("not") || !tokens.is(TokenKind::name, "in", 1)) return {};
  tokens.take();
  tokens.take();
  return "not in";
}

Result<Expression> parse_comparison(TokenReader& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(auto left, parse_binary(sums, tokens));
  Expression chain = node(ExpressionKind::comparison, {}, std::move(left));
  for (std::string name = take_comparison(tokens); !name.empty(); name = take_comparison(tokens)) {
    chain.names.push_back(std::move(name));
    DRAFTSCOPE_TRY_ASSIGN(chain.operands.emplace_back(), parse_binary(sums, tokens));
  }
  if (chain.names.empty()) return std::move(chain.operands.front());
  return chain;
}

Result<Expression> parse_negation(TokenReader& tokens) {
  std::size_t count = 0;
  while (tokens.accept_word("not")) ++count;
  DRAFTSCOPE_TRY_ASSIGN(auto value, parse_comparison(tokens));
  if (count == 0) return value;
  value = node(ExpressionKind::unary, "not", std::move(value));
  if (count % 2 == 0) value = node(ExpressionKind::unary, "not", std::move(value));
  return value;
}

bool at_tuple_end(const TokenReader& tokens) {
  const TokenKind kind = tokens.peek().kind;
  return kind == TokenKind::close_block || kind == TokenKind::close_output || tokens.is_symbol(")") ||
         tokens.is_symbol("]") || tokens.is_word("recursive") || tokens.is_word("if");
}

}  // namespace

Result<Expression> parse_filter(Expression value, TokenReader& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(auto name, parse_dotted_name(tokens));
  value = node(ExpressionKind::filter, std::move(name), std::move(value));
  if (tokens.is_symbol("(")) DRAFTSCOPE_TRY(parse_arguments(value, tokens));
  return value;
}

Result<Expression> parse_filters(Expression value, TokenReader& tokens) {
  for (int length = 0;; ++length) {
    if (length == deepest_nesting) return tokens.too_deep();
    if (tokens.accept_symbol("|")) {
      DRAFTSCOPE_TRY_ASSIGN(value, parse_filter(std::move(value), tokens));
    } else if (tokens.accept_word("is")) {
      DRAFTSCOPE_TRY_ASSIGN(value, parse_test(std::move(value), tokens));
    } else if (tokens.is_symbol("(") && length > 0) {
      value = node(ExpressionKind::call, {}, std::move(value));
      DRAFTSCOPE_TRY(parse_arguments(value, tokens));
    } else {
      return value;
    }
  }
}

Result<Expression> parse_tuple(TokenReader& tokens, bool may_be_conditional) {
  const auto parse_next = [&] {
    return may_be_conditional ? parse_expression(tokens) : parse_binary(0, tokens);
  };
  DRAFTSCOPE_TRY_ASSIGN(auto first, parse_next());
  if (!tokens.is_symbol(",")) return first;
  Expression tuple = node(ExpressionKind::tuple, {}, std::move(first));
  while (tokens.accept_symbol(",") && !at_tuple_end(tokens)) {
    DRAFTSCOPE_TRY_ASSIGN(tuple.operands.emplace_back(), parse_next());
  }
  return tuple;
}

Result<Expression> parse_expression(TokenReader& tokens) {
  const TokenReader::Level level(tokens);
  DRAFTSCOPE_TRY(level.check());
  DRAFTSCOPE_TRY_ASSIGN(auto value, parse_binary(0, tokens));
  int length = 0;
  while (tokens.accept_word("if")) {
    if (++length > deepest_nesting) return tokens.too_deep();
    DRAFTSCOPE_TRY_ASSIGN(auto condition, parse_binary(0, tokens));
    Expression otherwise = literal({});
    if (tokens.accept_word("else")) {
      DRAFTSCOPE_TRY_ASSIGN(otherwise, parse_expression(tokens));
    }
    value =
        node(ExpressionKind::conditional, {}, std::move(value), std::move(condition), std::move(otherwise));
  }
  if (tree_depth(value) > deepest_tree) return tokens.too_deep(deepest_tree);
  return value;
}

}  // namespace draftscope::engine::jinja
