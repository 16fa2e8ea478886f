// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A template's source as a flat list: text between tags, and the tags' words. White space around tags is
// treated as in Hugging Face's configuration of Jinja: trim_blocks and lstrip_blocks.

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
  number,  // with a fraction or a power of ten
  symbol,
  end
};

struct Token {
  TokenKind kind;
  std::string text;
  std::size_t line;  ///< counted from 1, for messages
};

/// Splits a template into tokens; the last has kind `end`.
[[nodiscard]] Result<std::vector<Token>> tokenize(std::string_view source);

}  // namespace draftscope::engine::jinja
