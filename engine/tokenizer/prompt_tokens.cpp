// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/engine/prompt_tokens.h>

#include <draftscope/base/quote.h>

#include <fmt/format.h>

namespace draftscope::engine {

Result<PromptTokens> prompt_tokens(const Tokenizer& tokenizer, std::string_view text) {
  PromptTokens prompt;
  DRAFTSCOPE_TRY_ASSIGN(prompt.tokens, tokenizer.encode(text));
  std::vector<std::int32_t>& tokens = prompt.tokens;
  if (tokens.size() < 2 || tokens[0] != tokens[1] || !tokenizer.is_special(tokens[0])) return prompt;
  // A text may also mean two of them, where the tokenizer adds none.
  DRAFTSCOPE_TRY_ASSIGN(const std::vector<std::int32_t> own,
                        tokenizer.encode(text, {.add_special_tokens = false}));
  if (own.size() >= tokens.size()) return prompt;
  prompt.doubled_start = tokenizer.text_of(tokens[0]);
  tokens.erase(tokens.begin());
  return prompt;
}

std::string doubled_start_note(std::string_view start) {
  return fmt::format("the prompt begins with {}, which the tokenizer adds as well: the model gets one",
                     quote(start));
}

}  // namespace draftscope::engine
