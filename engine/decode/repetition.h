// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What changes the logits of rows of a pass before they are warped: logit bias, then repetition, frequency
// and presence penalty (SamplingOptions). Each row has its text: a prefix that all rows share, and the tokens
// drafted after it on the path to the row.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/sampling.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu/top_tokens.h"

namespace draftscope::engine {

class Repetition {
 public:
  /// The first `prompt_tokens` of the text are no output, which frequency and presence penalty count.
  Repetition(const SamplingOptions& sampling, std::size_t prompt_tokens, std::int32_t vocab);

  /// Whether there is a penalty; without one, no other function may be called.
  [[nodiscard]] bool is_on() const { return !counts_.empty(); }

  /// Sets the prefix: the text of one request, which only grows from call to call.
  void follow(std::span<const std::int32_t> text);
  /// Adds a token after the prefix and earlier pushed tokens.
  void push(std::int32_t token);
  /// Removes the last pushed token.
  void pop();

  /// Penalises a row's logits, and computes its best tokens again from them.
  void apply(std::span<float> logits, std::span<TopToken> best);

 private:
  double penalty_;
  float frequency_;
  float presence_;
  std::size_t prompt_tokens_;
  std::vector<TokenBias> bias_;
  std::vector<std::int32_t> counts_;    // count of each token of the vocabulary; empty without a penalty
  std::vector<std::int32_t> outputs_;   // likewise, in the output alone
  std::vector<std::int32_t> distinct_;  // tokens that occur, in order of their first occurrence
  std::vector<std::int32_t> pushed_;
  std::size_t followed_ = 0;
  cpu::TopTokens top_;
};

}  // namespace draftscope::engine
