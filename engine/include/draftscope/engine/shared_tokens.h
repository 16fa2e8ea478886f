// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What two models call alike, so that one can draft for the other. Tables of a family often have as many
// rows as suited the trainer: rows after the tokenizer's last token are padding, and differ in number.

#include <draftscope/base/result.h>
#include <draftscope/engine/tokenizer.h>
#include <cstdint>
#include <string_view>
#include <vector>

namespace draftscope::engine {

/// A tokenizer, and the rows of its model's table.
struct TokenRows {
  const Tokenizer& tokenizer;
  std::int32_t rows = 0;
};

/// Whether both models have a row for a token that both tokenizers name, by id. `draft_name` names the draft
/// in errors: an id that the two name differently (the first), other ids for a text, no token in common.
/// Thread-safe.
[[nodiscard]] Result<std::vector<bool>> shared_tokens(const TokenRows& target, const TokenRows& draft,
                                                      std::string_view draft_name);

}  // namespace draftscope::engine
