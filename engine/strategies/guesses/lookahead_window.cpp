// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/guesses/lookahead_window.h"

#include <draftscope/engine/random.h>

#include <algorithm>

namespace draftscope::engine {

LookaheadWindow::LookaheadWindow(std::int32_t columns, std::int32_t ngram)
    : columns_(static_cast<std::size_t>(columns)), levels_(static_cast<std::size_t>(ngram) - 1) {}

std::int32_t LookaheadWindow::max_rows(std::int32_t columns, std::int32_t ngram) {
  // With `levels` levels above level 0 each of them is as wide as level 0 and the root together.
  std::int32_t most = 0;
  for (std::int32_t levels = 0; levels <= ngram - 2; ++levels)
    most = std::max(most, (levels + 1) * (columns + ngram - 2 - levels));
  return most;
}

void LookaheadWindow::begin(std::span<const std::int32_t> prompt, std::span<const std::int32_t> eos_tokens) {
  prompt_ = prompt;
  eos_tokens_ = eos_tokens;
  drawn_ = 0;
  // As many more than W − 1 as the filling of the other levels takes away.
  levels_[0].resize(columns_ + levels_.size() - 2);
  for (std::int32_t& token : levels_[0]) token = prompt_token();
  filled_ = 1;
  build_extra_rows();
}

std::int32_t LookaheadWindow::prompt_token() {
  return prompt_[philox({drawn_++, 0, 0, 0}, {0, 0})[0] % prompt_.size()];
}

/// The end of the text predicts nothing worth keeping.
std::int32_t LookaheadWindow::window_token(const TopToken& predicted) {
  const bool ends = std::find(eos_tokens_.begin(), eos_tokens_.end(), predicted.token) != eos_tokens_.end();
  return ends ? prompt_token() : predicted.token;
}

void LookaheadWindow::advance(std::int32_t root, std::span<const TopToken> predicted, NgramPool& pool) {
  const auto last_level = predicted.last(levels_[filled_ - 1].size());
  if (full()) {
    add_ngrams(root, last_level, pool);
    slide(last_level);
  } else {
    fill(last_level);
  }
  build_extra_rows();
}

void LookaheadWindow::fill(std::span<const TopToken> last_level) {
  // The text grows by a token: what stood right after the root now stands where the root does. Level 0 has
  // no column for the root, so that what follows its first column is column 0 of level 1.
  const bool first = filled_ == 1;
  for (std::size_t level = 0; level < filled_; ++level) levels_[level].erase(levels_[level].begin());
  std::vector<std::int32_t>& added = levels_[filled_++];
  added.clear();
  for (const TopToken& top : last_level.subspan(first ? 0 : 1)) added.push_back(window_token(top));
}

void LookaheadWindow::add_ngrams(std::int32_t root, std::span<const TopToken> last_level, NgramPool& pool) {
  for (std::size_t column = 0; column < columns_; ++column) {
    continuation_.clear();
    for (std::size_t level = 1; level < levels_.size(); ++level)
      continuation_.push_back(levels_[level][column]);
    continuation_.push_back(last_level[column].token);
    pool.add(column == 0 ? root : levels_[0][column - 1], continuation_);
  }
}

/// By one column, however many tokens the round has added to the text.
void LookaheadWindow::slide(std::span<const TopToken> last_level) {
  levels_[0].assign(levels_[1].begin() + 1, levels_[1].end());
  std::rotate(levels_.begin() + 1, levels_.begin() + 2, levels_.end());
  levels_.back().clear();
  for (const TopToken& top : last_level) levels_.back().push_back(window_token(top));
}

void LookaheadWindow::build_extra_rows() {
  const std::size_t width = levels_[0].size();
  extra_rows_.clear();
  seen_.clear();
  // Room for all, so that the extra rows' spans stay where they are.
  seen_.reserve((width + (filled_ - 1) * (width + 1)) * (width + filled_));
  for (std::size_t level = 0; level < filled_; ++level)
    for (std::size_t i = 0; i < levels_[level].size(); ++i) {
      // Level 0 before the row's column or up to it, then the row's column below its level.
      const std::size_t first = seen_.size();
      for (std::size_t before = 0; before < i; ++before) seen_.push_back(static_cast<std::int32_t>(before));
      for (std::size_t below = 1; below < level; ++below)
        seen_.push_back(static_cast<std::int32_t>(width + (below - 1) * (width + 1) + i));
      const std::size_t column = level == 0 ? i + 1 : i;
      extra_rows_.push_back({levels_[level][i], static_cast<std::int32_t>(level + column),
                             std::span(seen_).subspan(first, seen_.size() - first)});
    }
}

}  // namespace draftscope::engine
