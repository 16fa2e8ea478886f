// SPDX-License-Identifier: GPL-3.0-or-later
// Lookahead decoding: a window of guesses ahead of the text rides along in every verification, and the
// n-grams that it completes are guessed when the text comes to their first token.
// Source: Fu et al., "Break the Sequential Dependency of LLM Inference Using Lookahead Decoding" (ICML 2024),
// algorithm 2, and its public code where the paper leaves something open: the start from random tokens of the
// prompt, the order in which a full pool forgets, the slide by one column.
//
// Guesses that begin alike share rows. Without room for the window a round verifies guesses alone, and the
// window waits.

#include <draftscope/engine/backend.h>

#include "strategies/guesses/lookahead_window.h"
#include "strategies/guesses/ngram_pool.h"
#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

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
    proposals_.clear();
    // The most recent n-grams first: where there is no room for all, the oldest are left out.
    if (window_.full())
      for (std::int32_t i = pool_.count(root_); i-- > 0;)
        add_continuation(pool_.continuation(root_, i), proposals_);
    return {.origin = "lookahead", .proposals = proposals_, .extra_rows = window_.extra_rows()};
  }

  void observe(const RoundOutcome& outcome, DecisionLog* /*log*/) override {
    if (!outcome.extra_rows.empty()) window_.advance(root_, outcome.extra_rows, pool_);
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
  std::vector<Proposal> proposals_;
};

}  // namespace

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

}  // namespace draftscope::engine
