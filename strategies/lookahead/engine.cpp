// SPDX-License-Identifier: GPL-3.0-or-later
// Lookahead decoding: every verification includes a window of guesses ahead of the text as extra rows. The
// n-grams that the window completes are guessed when the text reaches their first token.
// Source: Fu et al., "Break the Sequential Dependency of LLM Inference Using Lookahead Decoding" (ICML 2024),
// algorithm 2. Its public code decides where the paper leaves something open: the start from random tokens of
// the prompt, the order in which a full pool forgets, the slide by one column.
//
// Guesses with a common beginning share rows. Without room for the window a round verifies guesses only, and
// the window waits.

#include <draftscope/engine/backend.h>
#include <draftscope/engine/random.h>
#include <draftscope/engine/strategy.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "strategies/engine.h"
#include "strategies/lookahead/rule.h"

namespace draftscope::engine {

namespace {

using speculation::NgramPool;

/// Lookahead's two-dimensional window: N−1 levels of guesses over W columns. The root is column 0 of level 0.
/// Level l of column i is l + i positions after it and was predicted in a round that began l rounds after its
/// column's level 0. Each round predicts one more level, which completes an n-gram in every column; the
/// oldest level leaves.
class LookaheadWindow {
 public:
  /// Creates an empty window. W = `columns` ≥ 1, N = `ngram` ≥ 3.
  LookaheadWindow(std::int32_t columns, std::int32_t ngram);

  /// Maximum rows of a round, including the root.
  [[nodiscard]] static std::int32_t max_rows(std::int32_t columns, std::int32_t ngram);

  /// Fills level 0 with random tokens of the prompt; the random numbers are the same for every request. The
  /// spans must live as long as the request.
  void begin(std::span<const std::int32_t> prompt, std::span<const std::int32_t> eos_tokens);
  /// Whether all levels exist: N − 2 rounds after the start.
  [[nodiscard]] bool full() const { return filled_ == levels_.size(); }
  [[nodiscard]] std::span<const std::vector<std::int32_t>> levels() const {
    return std::span(levels_).first(filled_);
  }
  /// The window's rows after the root, level by level.
  [[nodiscard]] std::span<const ExtraRow> extra_rows() const { return extra_rows_; }
  /// The n-grams that the latest round completed, [column][N].
  [[nodiscard]] std::span<const std::int32_t> ngrams() const { return ngrams_; }
  /// Takes the predictions of a round's extra rows. A full window adds its n-grams to the pool.
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
  std::vector<std::int32_t> seen_;  // nodes that the extra rows see, concatenated
  std::vector<std::int32_t> ngrams_;
};

LookaheadWindow::LookaheadWindow(std::int32_t columns, std::int32_t ngram)
    : columns_(static_cast<std::size_t>(columns)), levels_(static_cast<std::size_t>(ngram) - 1) {}

std::int32_t LookaheadWindow::max_rows(std::int32_t columns, std::int32_t ngram) {
  // With `levels` levels above level 0, each of them is as wide as level 0 and the root together.
  std::int32_t most = 0;
  for (std::int32_t levels = 0; levels <= ngram - 2; ++levels)
    most = std::max(most, (levels + 1) * (columns + ngram - 2 - levels));
  return most;
}

void LookaheadWindow::begin(std::span<const std::int32_t> prompt, std::span<const std::int32_t> eos_tokens) {
  prompt_ = prompt;
  eos_tokens_ = eos_tokens;
  drawn_ = 0;
  // Level 0 begins wider than W − 1 by the columns that filling the other levels removes.
  levels_[0].resize(columns_ + levels_.size() - 2);
  for (std::int32_t& token : levels_[0]) token = prompt_token();
  filled_ = 1;
  build_extra_rows();
}

std::int32_t LookaheadWindow::prompt_token() {
  return prompt_[philox({drawn_++, 0, 0, 0}, {0, 0})[0] % prompt_.size()];
}

/// Replaces an end of the text by a token of the prompt, since its predictions are useless.
std::int32_t LookaheadWindow::window_token(const TopToken& predicted) {
  const bool ends = std::find(eos_tokens_.begin(), eos_tokens_.end(), predicted.token) != eos_tokens_.end();
  return ends ? prompt_token() : predicted.token;
}

void LookaheadWindow::advance(std::int32_t root, std::span<const TopToken> predicted, NgramPool& pool) {
  const auto last_level = predicted.last(levels_[filled_ - 1].size());
  ngrams_.clear();
  if (full()) {
    add_ngrams(root, last_level, pool);
    slide(last_level);
  } else {
    fill(last_level);
  }
  build_extra_rows();
}

void LookaheadWindow::fill(std::span<const TopToken> last_level) {
  // The text grows by a token, so the token right after the root moves to the root's place. Level 0 has no
  // column for the root; therefore the prediction after its first column is column 0 of level 1.
  const bool first = filled_ == 1;
  for (std::size_t level = 0; level < filled_; ++level) levels_[level].erase(levels_[level].begin());
  std::vector<std::int32_t>& added = levels_[filled_++];
  added.clear();
  for (const TopToken& top : last_level.subspan(first ? 0 : 1)) added.push_back(window_token(top));
}

void LookaheadWindow::add_ngrams(std::int32_t root, std::span<const TopToken> last_level, NgramPool& pool) {
  for (std::size_t column = 0; column < columns_; ++column) {
    ngrams_.push_back(column == 0 ? root : levels_[0][column - 1]);
    for (std::size_t level = 1; level < levels_.size(); ++level) ngrams_.push_back(levels_[level][column]);
    ngrams_.push_back(last_level[column].token);
    pool.add(ngrams_[ngrams_.size() - levels_.size() - 1], std::span(ngrams_).last(levels_.size()));
  }
}

/// Slides by one column, however many tokens the round has added to the text.
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
  // Memory for all is reserved, so that the extra rows' spans stay valid.
  seen_.reserve((width + (filled_ - 1) * (width + 1)) * (width + filled_));
  for (std::size_t level = 0; level < filled_; ++level)
    for (std::size_t i = 0; i < levels_[level].size(); ++i) {
      // The row sees level 0 before its column or up to it, then its column below its level.
      const std::size_t first = seen_.size();
      for (std::size_t before = 0; before < i; ++before) seen_.push_back(static_cast<std::int32_t>(before));
      for (std::size_t below = 1; below < level; ++below)
        seen_.push_back(static_cast<std::int32_t>(width + (below - 1) * (width + 1) + i));
      const std::size_t column = level == 0 ? i + 1 : i;
      extra_rows_.push_back({levels_[level][i], static_cast<std::int32_t>(level + column),
                             std::span(seen_).subspan(first, seen_.size() - first)});
    }
}

class Lookahead final : public Strategy {
 public:
  Lookahead(std::int32_t window, std::int32_t ngram, std::int32_t guesses, bool pool_from_text,
            std::int32_t vocab)
      : ngram_(static_cast<std::size_t>(ngram)),
        pool_from_text_(pool_from_text),
        window_(window, ngram),
        pool_(vocab, ngram - 1, guesses) {}

  void begin_request(const RequestView& request) override {
    pool_.clear();
    pooled_ = 0;
    window_.begin(request.prompt, request.eos_tokens);
  }

  RoundPlan plan(const RoundView& round) override {
    root_ = round.text.back();
    if (pool_from_text_) add_ngrams_of(round.text);
    tree_.clear();
    // The most recent n-grams come first, so the oldest are left out where there is no room for all.
    if (window_.full())
      for (std::int32_t i = pool_.count(root_); i-- > 0;)
        speculation::add_continuation(pool_.continuation(root_, i), tree_);
    proposals_.clear();
    for (const speculation::TextGuess& guess : tree_) proposals_.push_back({guess.token, guess.parent});
    return {.origin = "lookahead", .proposals = proposals_, .extra_rows = window_.extra_rows()};
  }

  /// Notes the n-grams of the round, from which other windows and pools are predicted.
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    if (outcome.extra_rows.empty()) return;
    window_.advance(root_, outcome.extra_rows, pool_);
    if (log == nullptr || window_.ngrams().empty()) return;
    log->add({.kind = "n-grams", .detail = [&] {
                return fmt::format(R"({{"tokens":[{}]}})", fmt::join(window_.ngrams(), ","));
              }});
  }

 private:
  void add_ngrams_of(std::span<const std::int32_t> text) {
    for (; pooled_ + ngram_ <= text.size(); ++pooled_)
      pool_.add(text[pooled_], text.subspan(pooled_ + 1, ngram_ - 1));
  }

  std::size_t ngram_;
  bool pool_from_text_;
  LookaheadWindow window_;
  NgramPool pool_;
  std::size_t pooled_ = 0;  // n-grams of the text that are in the pool
  std::int32_t root_ = -1;
  std::vector<speculation::TextGuess> tree_;
  std::vector<Proposal> proposals_;
};

Result<std::unique_ptr<Strategy>> make_lookahead(const speculation::StrategySpecification& specification,
                                                 const speculation::ModelShape& shape,
                                                 const StrategyResources& /*resources*/) {
  const std::int32_t window = specification.integer("window");
  const std::int32_t ngram = specification.integer("ngram");
  const std::int32_t rows = LookaheadWindow::max_rows(window, ngram);
  if (rows > max_verification_rows || (ngram - 1) * (window + 1) > max_verification_rows)
    return fail(
        "strategy lookahead: window {} with ngram {} takes {} rows and a guess {}, expected at most {} "
        "together",
        window, ngram, rows, ngram - 1, max_verification_rows);
  return std::make_unique<Lookahead>(window, ngram, specification.integer("guesses"),
                                     specification.text("pool-from-prompt") == "yes", shape.vocab);
}

}  // namespace

StrategyMakers engine_of_lookahead() {
  return {.strategies = {{.name = "lookahead", .make = make_lookahead}}};
}

}  // namespace draftscope::engine
