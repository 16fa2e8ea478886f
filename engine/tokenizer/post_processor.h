// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/base/result.h>
#include <cstdint>
#include <optional>
#include <vector>

#include "tokenizer/read_json.h"

namespace draftscope::engine::tokenizer {

/// Adds special tokens before and after a sequence.
class PostProcessor {
 public:
  /// A processor that adds these tokens, if any, before and after a sequence.
  [[nodiscard]] static PostProcessor around(std::optional<std::int32_t> begin,
                                            std::optional<std::int32_t> end);
  [[nodiscard]] static Result<PostProcessor> parse(const JsonField& field, std::int32_t vocab_size);
  [[nodiscard]] std::vector<std::int32_t> apply(std::vector<std::int32_t> tokens) const;

 private:
  static constexpr std::int32_t sequence = -1;  // represents the sequence's tokens in a template
  std::vector<std::vector<std::int32_t>> templates_;
};

}  // namespace draftscope::engine::tokenizer
