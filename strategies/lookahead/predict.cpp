// SPDX-License-Identifier: GPL-3.0-or-later
// Lookahead with another window, n-gram size or pool, from the n-grams that a recorded run completed. While
// the rounds begin where the recorded ones did, its window is the recorded one. After that, windows are taken
// to complete at a position of the text what the recorded window completed there.

#include <draftscope/base/to_size.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run_specification.h"
#include "rounds/round_sources.h"
#include "strategies/lookahead/rule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

struct LookaheadOptions {
  std::int32_t window = 0;
  std::int32_t ngram = 0;
  std::int32_t guesses = 0;
  bool pool_from_text = false;
};

LookaheadOptions lookahead_options(const speculation::StrategySpecification& lookahead) {
  return {.window = lookahead.integer("window"),
          .ngram = lookahead.integer("ngram"),
          .guesses = lookahead.integer("guesses"),
          .pool_from_text = lookahead.text("pool-from-prompt") == "yes"};
}

/// A recorded round, with the n-grams that it completed, [column][N]; none while the window filled.
struct CompletedRound {
  std::int32_t root_position = 0;
  const std::vector<std::int32_t>* ngrams = nullptr;
};

/// A recorded run whose window contains the asked one.
struct LookaheadRun {
  const RunRows* rows = nullptr;
  LookaheadOptions options;
};

std::vector<CompletedRound> completed_rounds(const TrainedRecording& trained, const RequestRows* rows) {
  std::vector<CompletedRound> rounds;
  if (rows == nullptr) return rounds;
  for (const traces::Round& round : rows->rounds) {
    rounds.push_back({round.root_position});
    const auto noted = trained.noted_tokens.find(round.id);
    if (noted == trained.noted_tokens.end()) continue;
    if (const auto tokens = noted->second.find("tokens"); tokens != noted->second.end())
      rounds.back().ngrams = &tokens->second;
  }
  return rounds;
}

/// The run with the smallest window that contains the asked one; null rows if none was recorded.
LookaheadRun containing_run(const TrainedRecording& trained, const LookaheadOptions& asked) {
  LookaheadRun best;
  for (const RunRows& run : trained.runs) {
    if (run.run->strategy != "lookahead") continue;
    const auto recorded = run_specification(*run.run, trained.n_layers());
    if (!recorded) continue;
    const LookaheadOptions options = lookahead_options(*recorded);
    if (options.window < asked.window || options.ngram < asked.ngram) continue;
    const bool has_notes = std::ranges::any_of(run.requests, [&](const RequestRows& rows) {
      return std::ranges::any_of(
          rows.rounds, [&](const traces::Round& round) { return trained.noted_tokens.contains(round.id); });
    });
    const bool is_closer = best.rows == nullptr || std::pair(options.ngram, options.window) <
                                                       std::pair(best.options.ngram, best.options.window);
    if (has_notes && is_closer) best = {&run, options};
  }
  return best;
}

/// Lookahead on one text.
class LookaheadReplay {
 public:
  LookaheadReplay(const LookaheadOptions& asked, const LookaheadOptions& recorded,
                  std::vector<CompletedRound> rounds, bool is_at_own_pace, std::int32_t vocab)
      : asked_(asked),
        recorded_(recorded),
        rounds_(std::move(rounds)),
        is_at_own_pace_(is_at_own_pace),
        vocab_(vocab),
        pool_(vocab, asked.ngram - 1, asked.guesses),
        window_(asked.window, asked.ngram),
        is_in_step_(asked.window == recorded.window && asked.ngram == recorded.ngram) {}

  RoundGuesses guess(std::span<const std::int32_t> text) {
    const auto root = static_cast<std::int32_t>(text.size()) - 1;
    is_in_step_ =
        is_in_step_ && to_size(planned_) < rounds_.size() && rounds_[to_size(planned_)].root_position == root;
    const std::int32_t completed = planned_ - (asked_.ngram - 2);
    for (; next_ < rounds_.size() && rounds_[next_].root_position < root; ++next_) {
      if (rounds_[next_].ngrams == nullptr) continue;
      if (is_at_own_pace_ && taken_ >= completed) break;
      ++taken_;
      take(*rounds_[next_].ngrams);
    }
    if (asked_.pool_from_text)
      for (; pooled_ + to_size(asked_.ngram) <= text.size(); ++pooled_)
        pool_.add(text[pooled_], text.subspan(pooled_ + 1, to_size(asked_.ngram) - 1));
    tree_.clear();
    if (window_.full())
      for (std::int32_t i = pool_.count(text.back()); i-- > 0;)
        speculation::add_continuation(pool_.continuation(text.back(), i), tree_);
    const std::int32_t rows = window_.rows();
    if (!window_.full()) window_.add_level();
    ++planned_;
    was_in_step_ = was_in_step_ && is_in_step_;
    return {tree_, rows};
  }
  /// Whether every round began where a recorded one of the same window did.
  [[nodiscard]] bool is_exact() const { return was_in_step_; }

 private:
  void take(const std::vector<std::int32_t>& ngrams) {
    const std::size_t length = to_size(recorded_.ngram);
    for (std::size_t column = 0; column < to_size(asked_.window) && (column + 1) * length <= ngrams.size();
         ++column) {
      // A shorter n-gram ends with the token that the round has just predicted, too.
      const auto ngram = std::span(ngrams).subspan(column * length, length).last(to_size(asked_.ngram));
      // Nothing has checked the tokens of a file's notes.
      if (std::ranges::all_of(ngram, [&](std::int32_t token) { return token >= 0 && token < vocab_; }))
        pool_.add(ngram.front(), ngram.subspan(1));
    }
  }

  LookaheadOptions asked_;
  LookaheadOptions recorded_;
  std::vector<CompletedRound> rounds_;
  bool is_at_own_pace_;
  std::int32_t vocab_;
  speculation::NgramPool pool_;
  speculation::LevelSizes window_;
  std::vector<speculation::TextGuess> tree_;
  std::size_t next_ = 0;      // recorded round whose n-grams come next
  std::size_t pooled_ = 0;    // n-grams of the text that are in the pool
  std::int32_t planned_ = 0;  // rounds
  std::int32_t taken_ = 0;    // recorded rounds whose n-grams are in the pool
  bool is_in_step_;           // whether this round and all before began where recorded ones did
  bool was_in_step_ = true;
};

Result<TextRounds> lookahead_rounds(const TrainedRecording& trained,
                                    const speculation::StrategySpecification& strategy, PricedGuard* guard) {
  const LookaheadOptions asked = lookahead_options(strategy);
  const LookaheadRun run = containing_run(trained, asked);
  if (run.rows == nullptr)
    return fail("strategy {}: {}; found no run that notes it, expected one of window {} and ngram {} or more",
                strategy.given(), strategy.no_replay(), asked.window, asked.ngram);
  const std::vector<const RequestRows*> requests = requests_of_texts(trained, *run.rows);
  const auto& tables = trained.texts().tables;
  TextRounds answer;
  bool is_exact = true;
  for (const bool is_at_own_pace : {false, true}) {
    auto& all = is_at_own_pace ? answer.fewest : answer.requests;
    for (std::size_t i = 0; i < tables.size(); ++i) {
      LookaheadReplay replay(asked, run.options, completed_rounds(trained, requests[i]), is_at_own_pace,
                             trained.costs.model.shape.vocab);
      all.push_back(replay_guesses(
          tables[i], trained.conditions, guard,
          [&](std::span<const std::int32_t> text, const auto&) { return replay.guess(text); }));
      is_exact = is_exact && replay.is_exact();
    }
  }
  if (is_exact) {
    answer.fewest.clear();
    return answer;
  }
  answer.status = AnswerStatus::approximate;
  answer.notes.push_back(
      fmt::format("windows are taken to complete what that of run {} completed at the same place of the "
                  "text; in the second case no more of it than they have rounds for",
                  run.rows->run->specification));
  return answer;
}

}  // namespace

StrategyPredictions predict_of_lookahead() {
  return {.strategies = {{.name = "lookahead", .text_rounds = lookahead_rounds}}};
}

}  // namespace draftscope::simulator
