// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// Tokens of a prompt as a model is given them.
struct PromptTokens {
  std::vector<std::int32_t> tokens;
  /// Special token with which the text begins and which the tokenizer adds as well, so that one is kept; "" =
  /// none.
  std::string doubled_start;
};

/// Encodes a prompt with the tokens that the tokenizer adds around a text. A text that brings the first of
/// them itself has it once: no model was trained on two. Errors: those of Tokenizer::encode().
[[nodiscard]] Result<PromptTokens> prompt_tokens(const Tokenizer& tokenizer, std::string_view text);

/// Sentence for the user about a doubled start.
[[nodiscard]] std::string doubled_start_note(std::string_view start);

}  // namespace draftscope::engine
