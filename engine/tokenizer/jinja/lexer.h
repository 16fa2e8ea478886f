// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A template's source as a flat list: text between tags, and the tags' words. White space around tags goes as
// Hugging Face sets Jinja up: trim_blocks and lstrip_blocks.

#include <draftscope/base/result.h>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine::jinja {

enum class TokenKind {
  text,
  open_output,
  close_output,
  open_block,
  close_block,
  name,
  string,
  integer,
  symbol,
  end
};

struct Token {
  TokenKind kind;
  std::string text;
  std::size_t line;  ///< from 1, for messages
};

/// Ends with a token of kind `end`.
[[nodiscard]] Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace draftscope::engine::jinja
