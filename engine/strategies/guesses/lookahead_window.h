// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lookahead's two-dimensional window: N−1 levels of guesses over W columns. The root is column 0 of level 0;
// level l of column i stands l + i positions after it and was predicted in a round that began l rounds after
// its column's level 0. Each round predicts one more level, which completes an n-gram in every column; the
// oldest level leaves.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <span>
#include <vector>

#include "strategies/guesses/ngram_pool.h"

namespace draftscope::engine {

class LookaheadWindow {
 public:
  /// W ≥ 1, N ≥ 3.
  LookaheadWindow(std::int32_t columns, std::int32_t ngram);

  /// Most rows of a round, the root among them.
  [[nodiscard]] static std::int32_t max_rows(std::int32_t columns, std::int32_t ngram);

  /// Level 0 from random tokens of the prompt; the random numbers are the same for every request. The spans
  /// must live as long as the request.
  void begin(std::span<const std::int32_t> prompt, std::span<const std::int32_t> eos_tokens);
  /// Whether all levels are there: N − 2 rounds after the start.
  [[nodiscard]] bool full() const { return filled_ == levels_.size(); }
  [[nodiscard]] std::span<const std::vector<std::int32_t>> levels() const {
    return std::span(levels_).first(filled_);
  }
  /// The window's rows after the root, level by level.
  [[nodiscard]] std::span<const ExtraRow> extra_rows() const { return extra_rows_; }
  /// Takes what the extra rows of a round predicted. A full window adds its n-grams to the pool.
  void advance(std::int32_t root, std::span<const TopToken> predicted, NgramPool& pool);

 private:
  void fill(std::span<const TopToken> last_level);
  void slide(std::span<const TopToken> last_level);
  void add_ngrams(std::int32_t root, std::span<const TopToken> last_level, NgramPool& pool);
  void build_extra_rows();
  [[nodiscard]] std::int32_t prompt_token();
  [[nodiscard]] std::int32_t window_token(const TopToken& predicted);

  std::size_t columns_;
  std::vector<std::vector<std::int32_t>> levels_;  // level 0 without the root
  std::size_t filled_ = 0;
  std::span<const std::int32_t> prompt_, eos_tokens_;
  std::uint32_t drawn_ = 0;
  std::vector<ExtraRow> extra_rows_;
  std::vector<std::int32_t> seen_;  // what the extra rows see, one after the other
  std::vector<std::int32_t> continuation_;
};

}  // namespace draftscope::engine
