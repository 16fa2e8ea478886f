// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <vector>

#include "tokenizer/read_json.h"
#include "tokenizer/step_budget.h"

namespace draftscope::engine::tokenizer {

/// Adds special tokens before and after a sequence.
class PostProcessor {
 public:
  /// A processor that adds these tokens, if any, before and after a sequence.
  [[nodiscard]] static PostProcessor around(std::optional<std::int32_t> begin,
                                            std::optional<std::int32_t> end);
  [[nodiscard]] static Result<PostProcessor> parse(const JsonField& field, std::int32_t vocab_size);
  /// Errors: the budget is spent.
  [[nodiscard]] Result<std::vector<std::int32_t>> apply(std::vector<std::int32_t> tokens,
                                                        StepBudget& budget) const;

 private:
  static constexpr std::int32_t sequence = -1;  // represents the sequence's tokens in a template
  static constexpr std::size_t max_pieces = 65536;
  std::vector<std::int32_t> pieces_{sequence};  // all templates of the file within each other
};

}  // namespace draftscope::engine::tokenizer
