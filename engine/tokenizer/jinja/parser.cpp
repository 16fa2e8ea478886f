// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"

namespace draftscope::engine::jinja {
namespace {

// Limits that protect the stack from a hostile template; published ones stay below 20 (and 100 KiB).
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

  // Counts a level of nesting as long as it lives.
  struct Level {
    explicit Level(int& count) : depth(count) { ++depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --depth; }
    int& depth;
  };
  [[nodiscard]] Result<void> check_depth() const {
    if (depth_ > deepest_nesting)
      return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_nesting);
    return {};
  }

  // Whether the next tag is {% endif %} or the like, which the block's owner reads.
  [[nodiscard]] bool at_block_end() const {
    if (peek().kind != TokenKind::open_block || peek(1).kind != TokenKind::name) return false;
    const std::string& word = peek(1).text;
    return word.rfind("end", 0) == 0 || word == "else" || word == "elif";
  }

  Result<Block> parse_block() {
    const Level level(depth_);
    DRAFTSCOPE_TRY(check_depth());
    Block block;
    while (peek().kind != TokenKind::end && !at_block_end()) {
      DRAFTSCOPE_TRY_ASSIGN(auto statement, parse_statement());
      block.push_back(std::move(statement));
    }
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
    struct Row {
      std::string_view word;
      Result<Statement> (Parser::*parse)(Statement);
    };
    static constexpr std::array rows{Row{"if", &Parser::parse_branch},
                                     Row{"for", &Parser::parse_loop},
                                     Row{"set", &Parser::parse_set},
                                     Row{"macro", &Parser::parse_macro},
                                     Row{"call", &Parser::parse_call_block},
                                     Row{"filter", &Parser::parse_filter_block},
                                     Row{"with", &Parser::parse_with},
                                     Row{"generation", &Parser::parse_generation},
                                     Row{"break", &Parser::parse_leave},
                                     Row{"continue", &Parser::parse_leave},
                                     Row{"print", &Parser::parse_print},
                                     Row{"block", &Parser::parse_named_block},
                                     Row{"autoescape", &Parser::parse_unsupported},
                                     Row{"include", &Parser::parse_unsupported},
                                     Row{"import", &Parser::parse_unsupported},
                                     Row{"from", &Parser::parse_unsupported},
                                     Row{"extends", &Parser::parse_unsupported}};
    for (const Row& row : rows) {
      if (row.word != word) continue;
      statement.text = word;
      return (this->*row.parse)(std::move(statement));
    }
    return fail("line {}: found a tag {}, expected one of Jinja's", token.line, quote(word));
  }

  Result<void> parse_into(Statement& statement) {
    DRAFTSCOPE_TRY_ASSIGN(auto expression, parse_tuple(&Parser::parse_expression));
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

  // Reads the rest of a tag, its block, and the tag that ends it.
  Result<Statement> finish(Statement statement, std::string_view end) {
    DRAFTSCOPE_TRY(parse_block_into(statement));
    if (!accept_word(end)) return unexpected(end);
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
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

  Result<Target> parse_target() {
    const Level level(depth_);
    DRAFTSCOPE_TRY(check_depth());
    Target target;
    if (accept_symbol("(") || accept_symbol("[")) {
      const std::string_view close = tokens_[at_ - 1].text == "(" ? ")" : "]";
      DRAFTSCOPE_TRY_ASSIGN(target, parse_targets());
      DRAFTSCOPE_TRY(expect_symbol(close));
      return target;
    }
    DRAFTSCOPE_TRY_ASSIGN(target.name, expect_name());
    if (accept_symbol(".")) {
      DRAFTSCOPE_TRY_ASSIGN(target.member, expect_name());
    }
    return target;
  }

  // One target, or several separated by commas.
  Result<Target> parse_targets() {
    DRAFTSCOPE_TRY_ASSIGN(auto first, parse_target());
    if (!is_symbol(",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (accept_symbol(",")) {
      if (peek().kind != TokenKind::name && !is_symbol("(") && !is_symbol("[")) break;
      if (is_word("in")) break;
      DRAFTSCOPE_TRY_ASSIGN(auto next, parse_target());
      all.parts.push_back(std::move(next));
    }
    return all;
  }

  Result<Statement> parse_loop(Statement statement) {
    statement.kind = StatementKind::loop;
    DRAFTSCOPE_TRY_ASSIGN(auto targets, parse_targets());
    statement.targets.push_back(std::move(targets));
    if (!accept_word("in")) return unexpected("in");
    DRAFTSCOPE_TRY_ASSIGN(auto sequence, parse_tuple(&Parser::parse_or));
    statement.expressions.push_back(std::move(sequence));
    if (accept_word("if")) DRAFTSCOPE_TRY(parse_into(statement));
    statement.recursive = accept_word("recursive");
    DRAFTSCOPE_TRY(parse_block_into(statement));
    if (accept_word("else")) DRAFTSCOPE_TRY(parse_block_into(statement));
    if (!accept_word("endfor")) return unexpected("endfor");
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  // What filters the text of a block: an operand without a name stands for it.
  Result<Expression> parse_block_filter() { return parse_filters(node(ExpressionKind::name, {}, {})); }

  Result<Statement> parse_set(Statement statement) {
    DRAFTSCOPE_TRY_ASSIGN(auto targets, parse_targets());
    statement.targets.push_back(std::move(targets));
    if (accept_symbol("=")) {
      statement.kind = StatementKind::set;
      DRAFTSCOPE_TRY(parse_into(statement));
      DRAFTSCOPE_TRY(expect_close_block());
      return statement;
    }
    statement.kind = StatementKind::set_block;
    if (peek().kind != TokenKind::close_block && !is_symbol("|")) return unexpected("=");
    if (is_symbol("|")) {
      DRAFTSCOPE_TRY_ASSIGN(auto filter, parse_block_filter());
      statement.expressions.push_back(std::move(filter));
    }
    return finish(std::move(statement), "endset");
  }

  // The parameters of a macro or a caller: names, the last ones with defaults.
  Result<void> parse_parameters(Statement& statement) {
    DRAFTSCOPE_TRY(expect_symbol("("));
    while (!accept_symbol(")")) {
      DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
      statement.targets.push_back({std::move(name), {}, {}});
      if (accept_symbol("=")) {
        DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression());
        statement.expressions.push_back(std::move(value));
      } else if (!statement.expressions.empty()) {
        return fail("line {}: a parameter without a default follows one with a default, expected it before",
                    peek().line);
      }
      if (!is_symbol(")")) DRAFTSCOPE_TRY(expect_symbol(","));
    }
    return {};
  }

  Result<Statement> parse_macro(Statement statement) {
    statement.kind = StatementKind::macro;
    DRAFTSCOPE_TRY_ASSIGN(statement.text, expect_name());
    DRAFTSCOPE_TRY(parse_parameters(statement));
    return finish(std::move(statement), "endmacro");
  }

  Result<Statement> parse_call_block(Statement statement) {
    statement.kind = StatementKind::call;
    Statement caller{StatementKind::macro, statement.line, "caller", {}, {}, {}};
    if (is_symbol("(")) DRAFTSCOPE_TRY(parse_parameters(caller));
    DRAFTSCOPE_TRY_ASSIGN(auto called, parse_expression());
    if (called.kind != ExpressionKind::call) return unexpected("a call");
    statement.expressions.push_back(std::move(called));
    DRAFTSCOPE_TRY_ASSIGN(caller, finish(std::move(caller), "endcall"));
    statement.blocks.emplace_back();
    statement.blocks.back().push_back(std::move(caller));
    return statement;
  }

  Result<Statement> parse_filter_block(Statement statement) {
    statement.kind = StatementKind::filter;
    DRAFTSCOPE_TRY_ASSIGN(auto filter, parse_filter(node(ExpressionKind::name, {}, {})));
    DRAFTSCOPE_TRY_ASSIGN(filter, parse_filters(std::move(filter)));
    statement.expressions.push_back(std::move(filter));
    return finish(std::move(statement), "endfilter");
  }

  Result<Statement> parse_with(Statement statement) {
    statement.kind = StatementKind::with;
    while (peek().kind != TokenKind::close_block) {
      if (!statement.targets.empty()) DRAFTSCOPE_TRY(expect_symbol(","));
      DRAFTSCOPE_TRY_ASSIGN(auto target, parse_target());
      statement.targets.push_back(std::move(target));
      DRAFTSCOPE_TRY(expect_symbol("="));
      DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression());
      statement.expressions.push_back(std::move(value));
    }
    return finish(std::move(statement), "endwith");
  }

  // Marks what the assistant writes, for training; it changes nothing here.
  Result<Statement> parse_generation(Statement statement) {
    statement.kind = StatementKind::scope;
    return finish(std::move(statement), "endgeneration");
  }

  // A block that another template could replace.
  Result<Statement> parse_named_block(Statement statement) {
    statement.kind = StatementKind::scope;
    DRAFTSCOPE_TRY_ASSIGN(const auto name, expect_name());
    while (accept_word("scoped") || accept_word("required")) continue;
    DRAFTSCOPE_TRY(parse_block_into(statement));
    if (!accept_word("endblock")) return unexpected("endblock");
    accept_word(name);
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  Result<Statement> parse_leave(Statement statement) {
    statement.kind = StatementKind::leave;
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  Result<Statement> parse_print(Statement statement) {
    statement.kind = StatementKind::output;
    DRAFTSCOPE_TRY(parse_into(statement));
    DRAFTSCOPE_TRY(expect_close_block());
    return statement;
  }

  // Escaping and other templates: nothing renders them, so that the tag fails when it is reached.
  Result<Statement> parse_unsupported(Statement statement) {
    statement.kind = StatementKind::unsupported;
    while (peek().kind != TokenKind::close_block && peek().kind != TokenKind::end) ++at_;
    if (statement.text == "autoescape") return finish(std::move(statement), "endautoescape");
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
  static Expression none() {
    Expression literal = node(ExpressionKind::literal, {}, {});
    literal.value = None{};
    return literal;
  }

  using Rule = Result<Expression> (Parser::*)();

  // One expression, or a tuple of several separated by commas.
  Result<Expression> parse_tuple(Rule rule) {
    DRAFTSCOPE_TRY_ASSIGN(auto first, (this->*rule)());
    if (!is_symbol(",")) return first;
    Expression tuple = join(ExpressionKind::tuple, {}, std::move(first));
    while (accept_symbol(",") && !at_tuple_end()) {
      DRAFTSCOPE_TRY_ASSIGN(auto next, (this->*rule)());
      tuple.operands.push_back(std::move(next));
    }
    return tuple;
  }
  [[nodiscard]] bool at_tuple_end() const {
    return peek().kind == TokenKind::close_block || peek().kind == TokenKind::close_output ||
           is_symbol(")") || is_symbol("]") || is_word("recursive") || is_word("if");
  }

  Result<Expression> parse_expression() {
    const Level level(depth_);
    DRAFTSCOPE_TRY(check_depth());
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_or());
    int length = 0;
    while (accept_word("if")) {
      if (++length > deepest_nesting) return check_length();
      DRAFTSCOPE_TRY_ASSIGN(auto condition, parse_or());
      Expression otherwise = node(ExpressionKind::literal, {}, {});
      if (accept_word("else")) {
        DRAFTSCOPE_TRY_ASSIGN(otherwise, parse_expression());
      }
      value =
          join(ExpressionKind::conditional, {}, std::move(value), std::move(condition), std::move(otherwise));
    }
    if (tree_depth(value) > deepest_tree)
      return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_tree);
    return value;
  }
  [[nodiscard]] tl::unexpected<Error> check_length() const {
    return fail("line {}: is nested too deep, expected at most {} levels", peek().line, deepest_nesting);
  }

  template <std::size_t Count>
  Result<Expression> parse_left(Rule next, TokenKind kind,
                                const std::array<std::string_view, Count>& operators) {
    DRAFTSCOPE_TRY_ASSIGN(auto left, (this->*next)());
    // A chain makes the tree deeper on the left, and evaluation recurses into it.
    for (int length = 0; peek().kind == kind; ++length) {
      const auto found = std::find(operators.begin(), operators.end(), peek().text);
      if (found == operators.end()) break;
      if (length == deepest_nesting) return check_length();
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

  // The comparison that comes next, or an empty text.
  std::string take_comparison() {
    static constexpr std::array<std::string_view, 6> comparisons{"==", "!=", "<=", ">=", "<", ">"};
    if (peek().kind == TokenKind::symbol &&
        std::find(comparisons.begin(), comparisons.end(), peek().text) != comparisons.end())
      return tokens_[at_++].text;
    if (accept_word("in")) return "in";
    if (!is_word("not") || peek(1).kind != TokenKind::name || peek(1).text != "in") return {};
    at_ += 2;
    return "not in";
  }

  Result<Expression> parse_comparison() {
    DRAFTSCOPE_TRY_ASSIGN(auto left, parse_sum());
    Expression chain = node(ExpressionKind::comparison, {}, {});
    for (std::string name = take_comparison(); !name.empty(); name = take_comparison()) {
      DRAFTSCOPE_TRY_ASSIGN(auto right, parse_sum());
      chain.names.push_back(std::move(name));
      chain.operands.push_back(std::move(right));
    }
    if (chain.names.empty()) return left;
    chain.operands.insert(chain.operands.begin(), std::move(left));
    return chain;
  }

  // Operators from lowest to highest precedence: + and -, then ~, then * / // %, then **.
  Result<Expression> parse_sum() {
    return parse_left(&Parser::parse_concatenation, TokenKind::symbol,
                      std::array<std::string_view, 2>{"+", "-"});
  }
  Result<Expression> parse_concatenation() {
    return parse_left(&Parser::parse_product, TokenKind::symbol, std::array<std::string_view, 1>{"~"});
  }
  Result<Expression> parse_product() {
    return parse_left(&Parser::parse_power, TokenKind::symbol,
                      std::array<std::string_view, 4>{"*", "/", "//", "%"});
  }
  Result<Expression> parse_power() {
    return parse_left(&Parser::parse_operand, TokenKind::symbol, std::array<std::string_view, 1>{"**"});
  }
  Result<Expression> parse_operand() {
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_unary());
    return parse_filters(std::move(value));
  }

  Result<Expression> parse_unary() {
    const Level level(depth_);
    DRAFTSCOPE_TRY(check_depth());
    if (!is_symbol("-") && !is_symbol("+")) {
      DRAFTSCOPE_TRY_ASSIGN(auto value, parse_primary());
      return parse_postfix(std::move(value));
    }
    std::string sign = tokens_[at_++].text;
    DRAFTSCOPE_TRY_ASSIGN(auto value, parse_unary());
    return parse_postfix(join(ExpressionKind::unary, std::move(sign), std::move(value)));
  }

  Result<Expression> parse_number(const Token& token) {
    Expression literal = node(ExpressionKind::literal, {}, {});
    const char* begin = token.text.data();
    const char* end = begin + token.text.size();
    std::from_chars_result read{};
    if (token.kind == TokenKind::number) {
      double number = 0;
      read = std::from_chars(begin, end, number);
      literal.value = number;
    } else {
      std::int64_t number = 0;
      const char base = token.text.size() > 2 && token.text[0] == '0' ? token.text[1] : '\0';
      const int radix = base == 'x' || base == 'X'   ? 16
                        : base == 'o' || base == 'O' ? 8
                        : base == 'b' || base == 'B' ? 2
                                                     : 10;
      read = std::from_chars(radix == 10 ? begin : begin + 2, end, number, radix);
      literal.value = number;
    }
    if (read.ec != std::errc() || read.ptr != end)
      return fail("line {}: number {} is too large, expected at most 64 bits", token.line,
                  token.text.substr(0, 40));
    return literal;
  }

  Result<Expression> parse_primary() {
    const Token token = peek();
    ++at_;
    if (token.kind == TokenKind::string) {
      Expression literal = node(ExpressionKind::literal, {}, {});
      std::string text = token.text;
      while (peek().kind == TokenKind::string) text += tokens_[at_++].text;
      literal.value = Value(std::move(text), Charge());
      return literal;
    }
    if (token.kind == TokenKind::integer || token.kind == TokenKind::number) return parse_number(token);
    if (token.kind == TokenKind::name) return parse_name(token);
    if (token.kind == TokenKind::symbol && token.text == "(") {
      if (accept_symbol(")")) return node(ExpressionKind::tuple, {}, {});
      DRAFTSCOPE_TRY_ASSIGN(auto inside, parse_tuple(&Parser::parse_expression));
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

  Result<Expression> parse_postfix(Expression value) {
    for (int length = 0;; ++length) {
      if (length == deepest_nesting) return check_length();
      if (accept_symbol(".")) {
        if (peek().kind == TokenKind::integer) {
          DRAFTSCOPE_TRY_ASSIGN(auto index, parse_primary());
          value = join(ExpressionKind::subscript, {}, std::move(value), std::move(index));
          continue;
        }
        DRAFTSCOPE_TRY_ASSIGN(auto name, expect_name());
        value = join(ExpressionKind::attribute, std::move(name), std::move(value));
      } else if (accept_symbol("[")) {
        DRAFTSCOPE_TRY_ASSIGN(value, parse_subscript(std::move(value)));
      } else if (is_symbol("(")) {
        value = join(ExpressionKind::call, {}, std::move(value));
        DRAFTSCOPE_TRY(parse_arguments(value));
      } else {
        return value;
      }
    }
  }

  // Filters, tests, and calls of what they give.
  Result<Expression> parse_filters(Expression value) {
    for (int length = 0;; ++length) {
      if (length == deepest_nesting) return check_length();
      if (accept_symbol("|")) {
        DRAFTSCOPE_TRY_ASSIGN(value, parse_filter(std::move(value)));
      } else if (accept_word("is")) {
        DRAFTSCOPE_TRY_ASSIGN(value, parse_test(std::move(value)));
      } else if (is_symbol("(") && length > 0) {
        value = join(ExpressionKind::call, {}, std::move(value));
        DRAFTSCOPE_TRY(parse_arguments(value));
      } else {
        return value;
      }
    }
  }

  Result<std::string> parse_dotted_name() {
    DRAFTSCOPE_TRY_ASSIGN(std::string name, expect_name());
    while (accept_symbol(".")) {
      DRAFTSCOPE_TRY_ASSIGN(const auto part, expect_name());
      name += "." + part;
    }
    return name;
  }

  Result<Expression> parse_filter(Expression value) {
    DRAFTSCOPE_TRY_ASSIGN(auto name, parse_dotted_name());
    value = join(ExpressionKind::filter, std::move(name), std::move(value));
    if (is_symbol("(")) DRAFTSCOPE_TRY(parse_arguments(value));
    return value;
  }

  Result<Expression> parse_test(Expression value) {
    const bool negated = accept_word("not");
    DRAFTSCOPE_TRY_ASSIGN(auto name, parse_dotted_name());
    value = join(ExpressionKind::test, std::move(name), std::move(value));
    const TokenKind kind = peek().kind;
    const bool opens = is_symbol("[") || is_symbol("{") || kind == TokenKind::string ||
                       kind == TokenKind::integer || kind == TokenKind::number;
    const bool names = kind == TokenKind::name && !is_word("else") && !is_word("or") && !is_word("and");
    if (is_symbol("(")) {
      DRAFTSCOPE_TRY(parse_arguments(value));
    } else if (opens || names) {
      if (is_word("is")) return unexpected("one test");
      DRAFTSCOPE_TRY_ASSIGN(auto argument, parse_primary());
      DRAFTSCOPE_TRY_ASSIGN(argument, parse_postfix(std::move(argument)));
      value.operands.push_back(std::move(argument));
    }
    if (negated) value = join(ExpressionKind::unary, "not", std::move(value));
    return value;
  }

  Result<Expression> parse_subscript(Expression value) {
    std::array<Expression, 3> bounds{none(), none(), none()};
    std::size_t place = 0;
    bool given = false;
    while (!accept_symbol("]")) {
      if (accept_symbol(":")) {
        if (++place == bounds.size()) return unexpected("]");
        given = false;
        continue;
      }
      if (given) return unexpected("]");
      DRAFTSCOPE_TRY_ASSIGN(bounds.at(place), parse_tuple(&Parser::parse_expression));
      given = true;
    }
    if (place == 0 && !given) return unexpected("an index");
    if (place == 0) return join(ExpressionKind::subscript, {}, std::move(value), std::move(bounds[0]));
    return join(ExpressionKind::slice, {}, std::move(value), std::move(bounds[0]), std::move(bounds[1]),
                std::move(bounds[2]));
  }

  Result<void> parse_arguments(Expression& call) {
    DRAFTSCOPE_TRY(expect_symbol("("));
    while (!accept_symbol(")")) {
      const std::string stars = is_symbol("*") || is_symbol("**") ? tokens_[at_++].text : std::string();
      const bool keyword = stars.empty() && peek().kind == TokenKind::name &&
                           peek(1).kind == TokenKind::symbol && peek(1).text == "=";
      std::string name = keyword ? peek().text : std::string();
      if (keyword) at_ += 2;
      DRAFTSCOPE_TRY_ASSIGN(auto value, parse_expression());
      if (keyword) {
        call.names.push_back(std::move(name));
        call.keyword_values.push_back(std::move(value));
      } else if (stars.empty()) {
        call.operands.push_back(std::move(value));
      } else {
        call.operands.push_back(join(ExpressionKind::spread, stars, std::move(value)));
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
