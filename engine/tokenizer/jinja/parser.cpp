// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <array>
#include <utility>

#include "tokenizer/jinja/expressions.h"
#include "tokenizer/jinja/lexer.h"
#include "tokenizer/jinja/syntax.h"
#include "tokenizer/jinja/token_reader.h"

namespace draftscope::engine::jinja {
namespace {

// Published templates stay below 100 KiB.
constexpr std::size_t longest_source = std::size_t{1} << 20U;

Result<Block> parse_block(TokenReader& tokens);

Result<void> close_tag(TokenReader& tokens) {
  return tokens.expect(TokenKind::close_block, "", "%}");
}

/// Reads the word and the edge of the tag that ends a statement.
Result<Statement> ended(Statement statement, std::string_view word, TokenReader& tokens) {
  DRAFTSCOPE_TRY(tokens.expect_word(word));
  DRAFTSCOPE_TRY(close_tag(tokens));
  return statement;
}

Result<void> add_expression(Statement& statement, TokenReader& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(), parse_tuple(tokens));
  return {};
}

/// Reads the edge of a tag, a block and the opening of the next tag.
Result<void> add_block(Statement& statement, TokenReader& tokens) {
  DRAFTSCOPE_TRY(close_tag(tokens));
  DRAFTSCOPE_TRY_ASSIGN(statement.blocks.emplace_back(), parse_block(tokens));
  return tokens.expect(TokenKind::open_block, "", "an {% end… %}");
}

/// Reads the rest of a tag, its block, and the tag that ends it.
Result<Statement> finish(Statement statement, std::string_view end, TokenReader& tokens) {
  DRAFTSCOPE_TRY(add_block(statement, tokens));
  return ended(std::move(statement), end, tokens);
}

Result<Statement> parse_branch(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::branch;
  do {
    DRAFTSCOPE_TRY(add_expression(statement, tokens));
    DRAFTSCOPE_TRY(add_block(statement, tokens));
  } while (tokens.accept_word("elif"));
  if (tokens.accept_word("else")) DRAFTSCOPE_TRY(add_block(statement, tokens));
  return ended(std::move(statement), "endif", tokens);
}

Result<Target> parse_targets(TokenReader& tokens);

Result<Target> parse_target(TokenReader& tokens) {
  const TokenReader::Level level(tokens);
  DRAFTSCOPE_TRY(level.check());
  Target target;
  for (const auto& [open, close] : {std::pair("(", ")"), std::pair("[", "]")}) {
    if (!tokens.accept_symbol(open)) continue;
    DRAFTSCOPE_TRY_ASSIGN(target, parse_targets(tokens));
    DRAFTSCOPE_TRY(tokens.expect_symbol(close));
    return target;
  }
  DRAFTSCOPE_TRY_ASSIGN(target.name, tokens.expect_name());
  if (tokens.accept_symbol(".")) {
    DRAFTSCOPE_TRY_ASSIGN(target.member, tokens.expect_name());
  }
  return target;
}

/// One target, or several separated by commas.
Result<Target> parse_targets(TokenReader& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(auto first, parse_target(tokens));
  if (!tokens.is_symbol(",")) return first;
  Target all{.parts = {std::move(first)}};
  while (tokens.accept_symbol(",")) {
    const bool is_name = tokens.peek().kind == TokenKind::name && !tokens.is_word("in");
    if (!is_name && !tokens.is_symbol("(") && !tokens.is_symbol("[")) break;
    DRAFTSCOPE_TRY_ASSIGN(all.parts.emplace_back(), parse_target(tokens));
  }
  return all;
}

Result<Statement> parse_loop(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::loop;
  DRAFTSCOPE_TRY_ASSIGN(statement.targets.emplace_back(), parse_targets(tokens));
  DRAFTSCOPE_TRY(tokens.expect_word("in"));
  DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(),
                        parse_tuple(tokens, /*may_be_conditional=*/false));
  if (tokens.accept_word("if")) DRAFTSCOPE_TRY(add_expression(statement, tokens));
  statement.recursive = tokens.accept_word("recursive");
  DRAFTSCOPE_TRY(add_block(statement, tokens));
  if (tokens.accept_word("else")) DRAFTSCOPE_TRY(add_block(statement, tokens));
  return ended(std::move(statement), "endfor", tokens);
}

/// The operand for the text of a block that filters change: a name without a text.
Expression block_text() {
  return {.kind = ExpressionKind::name};
}

Result<Statement> parse_set(Statement statement, TokenReader& tokens) {
  DRAFTSCOPE_TRY_ASSIGN(statement.targets.emplace_back(), parse_targets(tokens));
  if (tokens.accept_symbol("=")) {
    statement.kind = StatementKind::set;
    DRAFTSCOPE_TRY(add_expression(statement, tokens));
    DRAFTSCOPE_TRY(close_tag(tokens));
    return statement;
  }
  statement.kind = StatementKind::set_block;
  if (tokens.is_symbol("|")) {
    DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(), parse_filters(block_text(), tokens));
  } else if (!tokens.is(TokenKind::close_block)) {
    return tokens.unexpected("=");
  }
  return finish(std::move(statement), "endset", tokens);
}

/// The parameters of a macro or a caller: names, the last ones with defaults.
Result<void> parse_parameters(Statement& statement, TokenReader& tokens) {
  DRAFTSCOPE_TRY(tokens.expect_symbol("("));
  while (!tokens.accept_symbol(")")) {
    DRAFTSCOPE_TRY_ASSIGN(auto name, tokens.expect_name());
    statement.targets.push_back({.name = std::move(name)});
    if (tokens.accept_symbol("=")) {
      DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(), parse_expression(tokens));
    } else if (!statement.expressions.empty()) {
      return fail("line {}: a parameter without a default follows one with a default, expected it before",
                  tokens.peek().line);
    }
    if (!tokens.is_symbol(")")) DRAFTSCOPE_TRY(tokens.expect_symbol(","));
  }
  return {};
}

Result<Statement> parse_macro(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::macro;
  DRAFTSCOPE_TRY_ASSIGN(statement.text, tokens.expect_name());
  DRAFTSCOPE_TRY(parse_parameters(statement, tokens));
  return finish(std::move(statement), "endmacro", tokens);
}

Result<Statement> parse_call_block(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::call;
  Statement caller{.kind = StatementKind::macro, .line = statement.line, .text = "caller"};
  if (tokens.is_symbol("(")) DRAFTSCOPE_TRY(parse_parameters(caller, tokens));
  DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(), parse_expression(tokens));
  if (statement.expressions.front().kind != ExpressionKind::call) return tokens.unexpected("a call");
  DRAFTSCOPE_TRY_ASSIGN(caller, finish(std::move(caller), "endcall", tokens));
  statement.blocks.emplace_back().push_back(std::move(caller));
  return statement;
}

Result<Statement> parse_filter_block(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::filter;
  DRAFTSCOPE_TRY_ASSIGN(auto filter, parse_filter(block_text(), tokens));
  DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(), parse_filters(std::move(filter), tokens));
  return finish(std::move(statement), "endfilter", tokens);
}

Result<Statement> parse_with(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::with;
  while (tokens.peek().kind != TokenKind::close_block) {
    if (!statement.targets.empty()) DRAFTSCOPE_TRY(tokens.expect_symbol(","));
    DRAFTSCOPE_TRY_ASSIGN(statement.targets.emplace_back(), parse_target(tokens));
    DRAFTSCOPE_TRY(tokens.expect_symbol("="));
    DRAFTSCOPE_TRY_ASSIGN(statement.expressions.emplace_back(), parse_expression(tokens));
  }
  return finish(std::move(statement), "endwith", tokens);
}

/// Marks what the assistant writes, for training; it changes nothing here.
Result<Statement> parse_generation(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::scope;
  return finish(std::move(statement), "endgeneration", tokens);
}

/// A block that another template could replace.
Result<Statement> parse_named_block(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::scope;
  DRAFTSCOPE_TRY_ASSIGN(const auto name, tokens.expect_name());
  while (tokens.accept_word("scoped") || tokens.accept_word("required")) continue;
  DRAFTSCOPE_TRY(add_block(statement, tokens));
  DRAFTSCOPE_TRY(tokens.expect_word("endblock"));
  tokens.accept_word(name);
  DRAFTSCOPE_TRY(close_tag(tokens));
  return statement;
}

Result<Statement> parse_leave(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::leave;
  DRAFTSCOPE_TRY(close_tag(tokens));
  return statement;
}

Result<Statement> parse_print(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::output;
  DRAFTSCOPE_TRY(add_expression(statement, tokens));
  DRAFTSCOPE_TRY(close_tag(tokens));
  return statement;
}

/// Escaping and other templates: nothing renders them, so that the tag fails when it is reached.
Result<Statement> parse_unsupported(Statement statement, TokenReader& tokens) {
  statement.kind = StatementKind::unsupported;
  while (tokens.peek().kind != TokenKind::close_block && tokens.peek().kind != TokenKind::end) tokens.take();
  if (statement.text == "autoescape") return finish(std::move(statement), "endautoescape", tokens);
  DRAFTSCOPE_TRY(close_tag(tokens));
  return statement;
}

struct Tag {
  std::string_view word;
  Result<Statement> (*parse)(Statement statement, TokenReader& tokens);
};
constexpr std::array tags{Tag{"if", parse_branch},
                          Tag{"for", parse_loop},
                          Tag{"set", parse_set},
                          Tag{"macro", parse_macro},
                          Tag{"call", parse_call_block},
                          Tag{"filter", parse_filter_block},
                          Tag{"with", parse_with},
                          Tag{"generation", parse_generation},
                          Tag{"break", parse_leave},
                          Tag{"continue", parse_leave},
                          Tag{"print", parse_print},
                          Tag{"block", parse_named_block},
                          Tag{"autoescape", parse_unsupported},
                          Tag{"include", parse_unsupported},
                          Tag{"import", parse_unsupported},
                          Tag{"from", parse_unsupported},
                          Tag{"extends", parse_unsupported}};

Result<Statement> parse_statement(TokenReader& tokens) {
  const Token& token = tokens.take();
  Statement statement{.line = token.line};
  if (token.kind == TokenKind::text) {
    statement.text = token.text;
    return statement;
  }
  if (token.kind == TokenKind::open_output) {
    statement.kind = StatementKind::output;
    DRAFTSCOPE_TRY(add_expression(statement, tokens));
    DRAFTSCOPE_TRY(tokens.expect(TokenKind::close_output, "", "}}"));
    return statement;
  }
  DRAFTSCOPE_TRY_ASSIGN(statement.text, tokens.expect_name());
  for (const Tag& tag : tags)
    if (tag.word == statement.text) return tag.parse(std::move(statement), tokens);
  return fail("line {}: found a tag {}, expected one of Jinja's", token.line, quote(statement.text));
}

/// Whether the next tag is {% endif %} or the like, which the block's owner reads.
bool at_block_end(const TokenReader& tokens) {
  if (tokens.peek().kind != TokenKind::open_block || tokens.peek(1).kind != TokenKind::name) return false;
  const std::string& word = tokens.peek(1).text;
  return word.starts_with("end") || word == "else" || word == "elif";
}

Result<Block> parse_block(TokenReader& tokens) {
  const TokenReader::Level level(tokens);
  DRAFTSCOPE_TRY(level.check());
  Block block;
  while (tokens.peek().kind != TokenKind::end && !at_block_end(tokens)) {
    DRAFTSCOPE_TRY_ASSIGN(block.emplace_back(), parse_statement(tokens));
  }
  return block;
}

}  // namespace

Result<Block> parse_template(std::string_view source) {
  if (source.size() > longest_source)
    return fail("{} bytes, expected at most {}", source.size(), longest_source);
  DRAFTSCOPE_TRY_ASSIGN(auto list, tokenize(source));
  TokenReader tokens(std::move(list));
  DRAFTSCOPE_TRY_ASSIGN(auto block, parse_block(tokens));
  if (tokens.peek().kind != TokenKind::end) return tokens.unexpected("the end of the template");
  return block;
}

}  // namespace draftscope::engine::jinja
