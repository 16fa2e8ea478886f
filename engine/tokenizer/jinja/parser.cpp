// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "tokenizer/jinja/functions.h"
#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"

namespace draftscope::engine::jinja {
namespace {

// Limits that protect the stack from a hostile template; published ones stay below 20 (and 20 KiB).
constexpr std::size_t longest_source = std::size_t{1} << 20U;
constexpr int deepest_nesting = 100;
constexpr int deepest_tree = 400;

int tree_depth(const Expression& expression) {
  int deepest = 0;
  for (const Expression& operand : expression.operands) deepest = std::max(deepest, tree_depth(operand));
  for (const Expression& value : expression.keyword_values) deepest = std::max(deepest, tree_depth(value));
  return deepest + 1;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Block> run() {
    DRAFTSCOPE_TRY_ASSIGN(auto block, parse_block());
    if (peek().kind != TokenKind::end) return unexpected("the end of the template");
    return block;
  }

 private:
  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  [[nodiscard]] bool is(TokenKind kind, std::string_view text) const {
    return peek().kind == kind && peek().text == text;
  }
  [[nodiscard]] bool is_symbol(std::string_view text) const { return is(TokenKind::symbol, text); }
  [[nodiscard]] bool is_word(std::string_view text) const { return is(TokenKind::name, text); }
  bool accept(TokenKind kind, std::string_view text) {
    const bool found = is(kind, text);
    if (found) ++at_;
    return found;
  }
  bool accept_symbol(std::string_view text) { return accept(TokenKind::symbol, text); }
  bool accept_word(std::string_view text) { return accept(TokenKind::name, text); }

  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view expected) const {
    const std::string& found = peek().text;
    return fail("line {}: {} where {} was expected", peek().line,
                found.empty() ? "'a tag's edge'" : quote(found), expected);
  }
  Result<void> expect_symbol(std::string_view text) {
    if (!accept_symbol(text)) return unexpected(text);
    return {};
  }
  Result<std::string> expect_name() {
    if (peek().kind != TokenKind::name) return unexpected("a name");
    return tokens_[at_++].text;
  }
  Result<void> expect_close_block() {
    if (!accept(TokenKind::close_block, "")) return unexpected("%}");
    return {};
  }

  // Whether the next tag is {% endif %} or the like, which the block's owner reads.
  [[nodiscard]] bool at_block_end() const {
    static constexpr std::array<std::string_view, 4> ends{"endif", "endfor", "else", "elif"};
    return peek().kind == TokenKind::open_block && peek(1).kind == TokenKind::name &&
           std::find(ends.begin(), ends.end(), peek(1).text) != ends.end();
  }

  Result<Block> parse_block() {
    if (++depth_ > deepest_nesting)
      return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_nesting);
    Block block;
    while (peek().kind != TokenKind::end && !at_block_end()) {
      DRAFTSCOPE_TRY_ASSIGN(auto statement, parse_statement());
      block.push_back(std::move(statement));
    }
    --depth_;
    return block;
  }

  Result<Statement> parse_statement() {
    const Token token = tokens_[at_++];
    Statement statement{StatementKind::text, token.line, {}, {}, {}, {}};
    if (token.kind == TokenKind::text) {
      statement.text = token.text;
      return statement;
    }
    if (token.kind == TokenKind::open_output) {
      statement.kind = StatementKind::output;
      DRAFTSCOPE_TRY(parse_into(statement));
      if (!accept(TokenKind::close_output, "")) return unexpected("}}");
      return statement;
    }
    DRAFTSCOPE_TRY_ASSIGN(const auto word, expect_name());
    if (word == "if") return parse_branch(std::move(statement));
    if (word == "for") return parse_loop(std::move(statement));
    if (word == "set") return parse_set(std::move(statement));
    return fail("line {}: {{% {} %}} is not implemented", token.line, word.substr(0, 40));
  }

  Result<void> parse_into(Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(auto expression, parse_expression());
    statement.expressions.push_back(std::move(expression));
    return {};
  }

  Result<void> parse_block_into(Statement& statement) {
    DRAFTSCOPE_TRY(expect_close_block());
    DRAFTSCOPE_TRY_ASSIGN(auto block, parse_block());
    statement.blocks.push_back(std::move(block));
    if (peek().kind != TokenKind::open_block) return unexpected("an {% end… %}");
    ++at_;
    return {};
  }

  Result<Statement> parse_branch(Statement statement) {
    statement.kind = StatementKind::branch;
    do {
      DRAFTSCOPE_TRY(parse_into(statement));
      DRAFTSCOPE_TRY(parse_block_into(statement));
    } while (accept_word("elif"));
    if (accept_word("else")) DRAFTSCOPE_TRY(parse_block_into(statement));
    if (!accept_word("endif")) return unexpected("endif");
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  Result<Statement> parse_loop(Statement statement) {
    statement.kind = StatementKind::loop;
    do {
      DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
      statement.targets.push_back(std::move(name));
    } while (accept_symbol(","));
    if (!accept_word("in")) return unexpected("in");
    DRAFTSCOPE_TRY_ASSIGN(auto sequence, parse_or());
    statement.expressions.push_back(std::move(sequence));
    if (accept_word("if")) DRAFTSCOPE_TRY(parse_into(statement));
    DRAFTSCOPE_TRY(parse_block_into(statement));
    if (!accept_word("endfor")) return unexpected("endfor");
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  Result<Statement> parse_set(Statement statement) {
    statement.kind = StatementKind::set;
    do {
      DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
      statement.targets.push_back(std::move(name));
    } while (statement.targets.size() < 2 && accept_symbol("."));
    DRAFTSCOPE_TRY(expect_symbol("="));
    DRAFTSCOPE_TRY(parse_into(statement));
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  static Expression node(ExpressionKind kind, std::string name, std::vector<Expression> operands) {
    return {kind, std::move(name), {}, std::move(operands), {}, {}};
  }
  template <typename... Parts>
  static Expression join(ExpressionKind kind, std::string name, Parts... parts) {
    std::vector<Expression> operands;
    (operands.push_back(std::move(parts)), ...);
    return node(kind, std::move(name), std::move(operands));
  }

  Result<Expression> parse_expression() {
    if (++depth_ > deepest_nesting)
      return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_nesting);
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_or());
    if (accept_word("if")) {
      DRAFTSCOPE_TRY_ASSIGN(auto condition, parse_or());
      Expression otherwise = node(ExpressionKind::literal, {}, {});
      if (accept_word("else")) {
        DRAFTSCOPE_TRY_ASSIGN(otherwise, parse_expression());
      }
      value =
          join(ExpressionKind::conditional, {}, std::move(value), std::move(condition), std::move(otherwise));
    }
    --depth_;
    if (tree_depth(value) > deepest_tree)
      return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_tree);
    return value;
  }

  using Level = Result<Expression> (Parser::*)();

  template <std::size_t Count>
  Result<Expression> parse_left(Level next, TokenKind kind,
                                const std::array<std::string_view, Count>& operators) {
    DRAFTSCOPE_TRY_ASSIGN(auto left, (this->*next)());
    // A chain makes the tree deeper on the left, and evaluation recurses into it.
    for (int length = 0; peek().kind == kind; ++length) {
      const auto found = std::find(operators.begin(), operators.end(), peek().text);
      if (found == operators.end()) break;
      if (length == deepest_nesting)
        return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_nesting);
      ++at_;
      DRAFTSCOPE_TRY_ASSIGN(auto right, (this->*next)());
      left = join(ExpressionKind::binary, std::string(*found), std::move(left), std::move(right));
    }
    return left;
  }

  Result<Expression> parse_or() {
    return parse_left(&Parser::parse_and, TokenKind::name, std::array<std::string_view, 1>{"or"});
  }
  Result<Expression> parse_and() {
    return parse_left(&Parser::parse_not, TokenKind::name, std::array<std::string_view, 1>{"and"});
  }
  Result<Expression> parse_not() {
    std::size_t count = 0;
    while (accept_word("not")) ++count;
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_comparison());
    if (count == 0) return value;
    value = join(ExpressionKind::unary, "not", std::move(value));
    if (count % 2 == 0) value = join(ExpressionKind::unary, "not", std::move(value));
    return value;
  }

  Result<Expression> parse_comparison() {
    DRAFTSCOPE_TRY_ASSIGN(auto left, parse_sum());
    static constexpr std::array<std::string_view, 6> comparisons{"==", "!=", "<=", ">=", "<", ">"};
    std::string name;
    if (peek().kind == TokenKind::symbol &&
        std::find(comparisons.begin(), comparisons.end(), peek().text) != comparisons.end()) {
      name = tokens_[at_++].text;
    } else if (is_word("not") && peek(1).text == "in") {
      at_ += 2;
      name = "not in";
    } else if (accept_word("in")) {
      name = "in";
    } else {
      return left;
    }
    DRAFTSCOPE_TRY_ASSIGN(auto right, parse_sum());
    return join(ExpressionKind::binary, std::move(name), std::move(left), std::move(right));
  }

  // Operators from lowest to highest precedence: + and -, then ~, then * // %.
  Result<Expression> parse_sum() {
    return parse_left(&Parser::parse_concatenation, TokenKind::symbol,
                      std::array<std::string_view, 2>{"+", "-"});
  }
  Result<Expression> parse_concatenation() {
    return parse_left(&Parser::parse_product, TokenKind::symbol, std::array<std::string_view, 1>{"~"});
  }
  Result<Expression> parse_product() {
    return parse_left(&Parser::parse_unary, TokenKind::symbol,
                      std::array<std::string_view, 3>{"*", "//", "%"});
  }

  Result<Expression> parse_unary() {
    if (is_symbol("-") || is_symbol("+")) {
      std::string sign = tokens_[at_++].text;
      DRAFTSCOPE_TRY_ASSIGN(auto value, parse_primary());
      DRAFTSCOPE_TRY_ASSIGN(value, parse_postfix(std::move(value), false));
      value = join(ExpressionKind::unary, std::move(sign), std::move(value));
      return parse_postfix(std::move(value), true);
    }
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_primary());
    return parse_postfix(std::move(value), true);
  }

  Result<Expression> parse_primary() {
    const Token token = peek();
    ++at_;
    Expression literal = node(ExpressionKind::literal, {}, {});
    if (token.kind == TokenKind::string) {
      std::string text = token.text;
      while (peek().kind == TokenKind::string) text += tokens_[at_++].text;
      literal.value = Value(std::move(text), Charge());
      return literal;
    }
    if (token.kind == TokenKind::integer) {
      std::int64_t number = 0;
      const char* end = token.text.data() + token.text.size();
      if (std::from_chars(token.text.data(), end, number).ec != std::errc() || is_symbol("."))
        return fail("line {}: number {} is not implemented", token.line, token.text.substr(0, 40));
      literal.value = number;
      return literal;
    }
    if (token.kind == TokenKind::name) return parse_name(token);
    if (token.kind == TokenKind::symbol && token.text == "(") {
      DRAFTSCOPE_TRY_ASSIGN(auto inside, parse_expression());
      DRAFTSCOPE_TRY(expect_symbol(")"));
      return inside;
    }
    if (token.kind == TokenKind::symbol && (token.text == "[" || token.text == "{"))
      return parse_collection(token.text == "[");
    --at_;
    return unexpected("a value");
  }

  Result<Expression> parse_name(const Token& token) {
    Expression literal = node(ExpressionKind::literal, {}, {});
    if (token.text == "true" || token.text == "True") {
      literal.value = true;
    } else if (token.text == "false" || token.text == "False") {
      literal.value = false;
    } else if (token.text == "none" || token.text == "None") {
      literal.value = None{};
    } else {
      return node(ExpressionKind::name, token.text, {});
    }
    return literal;
  }

  Result<Expression> parse_collection(bool is_list) {
    Expression collection = node(is_list ? ExpressionKind::list : ExpressionKind::dictionary, {}, {});
    const std::string_view close = is_list ? "]" : "}";
    while (!accept_symbol(close)) {
      DRAFTSCOPE_TRY_ASSIGN(auto item, parse_expression());
      collection.operands.push_back(std::move(item));
      if (!is_list) {
        DRAFTSCOPE_TRY(expect_symbol(":"));
        DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression());
        collection.operands.push_back(std::move(value));
      }
      if (!is_symbol(close)) DRAFTSCOPE_TRY(expect_symbol(","));
    }
    return collection;
  }

  Result<Expression> parse_postfix(Expression value, bool filters_too) {
    for (int length = 0;; ++length) {
      if (length == deepest_nesting)
        return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_nesting);
      if (accept_symbol(".")) {
        DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
        value = join(ExpressionKind::attribute, std::move(name), std::move(value));
      } else if (accept_symbol("[")) {
        DRAFTSCOPE_TRY_ASSIGN(value, parse_subscript(std::move(value)));
      } else if (is_symbol("(")) {
        DRAFTSCOPE_TRY_ASSIGN(value, parse_call(std::move(value)));
      } else if (filters_too && accept_symbol("|")) {
        DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
        if (!is_known_filter(name))
          return fail("line {}: filter {} is not implemented", peek().line, quote(name));
        value = join(ExpressionKind::filter, std::move(name), std::move(value));
        if (is_symbol("(")) DRAFTSCOPE_TRY(parse_arguments(value));
      } else if (filters_too && accept_word("is")) {
        DRAFTSCOPE_TRY_ASSIGN(value, parse_test(std::move(value)));
      } else {
        return value;
      }
    }
  }

  Result<Expression> parse_test(Expression value) {
    const bool negated = accept_word("not");
    DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
    if (!is_known_test(name)) return fail("line {}: test {} is not implemented", peek().line, quote(name));
    value = join(ExpressionKind::test, std::move(name), std::move(value));
    if (is_symbol("(")) DRAFTSCOPE_TRY(parse_arguments(value));
    if (negated) value = join(ExpressionKind::unary, "not", std::move(value));
    return value;
  }

  Result<Expression> parse_subscript(Expression value) {
    std::array<Expression, 2> bounds{node(ExpressionKind::literal, {}, {}),
                                     node(ExpressionKind::literal, {}, {})};
    bounds[0].value = bounds[1].value = None{};
    if (!is_symbol(":")) {
      DRAFTSCOPE_TRY_ASSIGN(bounds[0], parse_expression());
      if (accept_symbol("]"))
        return join(ExpressionKind::subscript, {}, std::move(value), std::move(bounds[0]));
    }
    DRAFTSCOPE_TRY(expect_symbol(":"));
    if (is_symbol(":")) return fail("line {}: a slice with a step is not implemented", peek().line);
    if (!is_symbol("]")) {
      DRAFTSCOPE_TRY_ASSIGN(bounds[1], parse_expression());
    }
    DRAFTSCOPE_TRY(expect_symbol("]"));
    return join(ExpressionKind::slice, {}, std::move(value), std::move(bounds[0]), std::move(bounds[1]));
  }

  Result<Expression> parse_call(Expression callee) {
    Expression call = node(ExpressionKind::call, callee.name, {});
    if (callee.kind == ExpressionKind::attribute) {
      if (!is_known_method(callee.name))
        return fail("line {}: method {} is not implemented", peek().line, quote(callee.name));
      call.kind = ExpressionKind::method;
      call.operands = std::move(callee.operands);
    } else if (callee.kind != ExpressionKind::name || !is_known_function(callee.name)) {
      return fail("line {}: function {} is not implemented", peek().line, quote(callee.name));
    }
    DRAFTSCOPE_TRY(parse_arguments(call));
    return call;
  }

  Result<void> parse_arguments(Expression& call) {
    DRAFTSCOPE_TRY(expect_symbol("("));
    while (!accept_symbol(")")) {
      if (peek().kind == TokenKind::name && peek(1).kind == TokenKind::symbol && peek(1).text == "=") {
        std::string name = peek().text;
        at_ += 2;
        DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression());
        call.keyword_names.push_back(std::move(name));
        call.keyword_values.push_back(std::move(value));
      } else {
        DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression());
        call.operands.push_back(std::move(value));
      }
      if (!is_symbol(")")) DRAFTSCOPE_TRY(expect_symbol(","));
    }
    return {};
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Block> parse_template(std::string_view source) {
  if (source.size() > longest_source)
    return fail("{} bytes, expected at most {}", source.size(), longest_source);
  DRAFTSCOPE_TRY_ASSIGN(auto tokens, tokenize(source));
  return Parser(std::move(tokens)).run();
}

}  // namespace draftscope::engine::jinja
