// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/search_schedule.h"
#include "strategies/predict.h"
#include "strategies/swift/rule.h"

namespace draftscope::simulator {

namespace {

using speculation::StrategySpecification;

/// Half of the sublayers that a candidate skips are attention sublayers, and an odd one is an MLP; its search
/// decides which they are.
SkippedSublayerCounts swift_skipped(const StrategySpecification& mix, std::int32_t n_layers) {
  const std::int32_t skipped = speculation::swift_skipped_sublayers(n_layers, mix.number("ratio"));
  return {skipped / 2, skipped - skipped / 2};
}

/// Passes of a candidate over the window.
class SwiftCandidates final : public AuxiliaryRule {
 public:
  SwiftCandidates(const StrategySpecification& mix, const speculation::ModelShape& shape)
      : window_(mix.integer("window")),
        scores_first_(mix.text("scored-on") == "first"),
        n_layers_(shape.n_layers),
        skipped_(swift_skipped(mix, shape.n_layers)) {}

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    const std::int32_t from =
        scores_first_ ? round.prompt_tokens : std::max(round.root_position + round.accepted + 1 - window_, 0);
    for (std::int32_t row = 0; row < window_; row += speculation::swift_pass_rows)
      passes.count({AuxiliaryPassKind::candidate, std::min(window_ - row, speculation::swift_pass_rows),
                    n_layers_ - skipped_.attention, n_layers_ - skipped_.mlp, true},
                   1, from + row, counts);
  }

 private:
  std::int32_t window_;
  bool scores_first_;  // whether it scores on the output's first tokens, rather than the latest
  std::int32_t n_layers_;
  SkippedSublayerCounts skipped_;
};

class SwiftSearch final : public SearchRule {
 public:
  SwiftSearch(const StrategySpecification& mix, std::int32_t /*n_layers*/, std::int64_t max_searches)
      : interval_(mix.integer("every")), window_(mix.integer("window")) {
    const std::int64_t max = mix.integer("max-iterations");
    max_searches_ = max_searches < 0 ? max : std::min(max_searches, max);
  }

  void begin_request() override {
    rounds_ = 0;
    emitted_ = 1;
    // The candidate that was due after the last request's end was not scored.
    if (follows_last_) --searches_;
    follows_last_ = false;
  }

  bool follows(const traces::Round& round) override {
    ++rounds_;
    emitted_ += round.emitted;
    follows_last_ = searches_ < max_searches_ && rounds_ % interval_ == 0 && emitted_ > window_ + 1;
    searches_ += follows_last_ ? 1 : 0;
    return follows_last_;
  }

 private:
  std::int32_t interval_;  // rounds
  std::int32_t window_;    // tokens that must have been emitted before the first candidate
  std::int64_t max_searches_ = 0;
  std::int64_t searches_ = 0;
  bool follows_last_ = false;  // whether one followed the last round
  std::int32_t rounds_ = 0;    // rounds of the request
  std::int32_t emitted_ = 0;   // tokens of the request, including the prefill's
};

/// The set that drafts until a candidate is adopted: every second layer is skipped (engine/search).
TriedSet swift_first_set(std::int32_t n_layers) {
  TriedSet first{.skipped = SkippedSublayers(2 * static_cast<std::size_t>(n_layers))};
  for (std::size_t layer = 1; layer + 1 < static_cast<std::size_t>(n_layers); layer += 2)
    first.skipped[2 * layer] = first.skipped[2 * layer + 1] = true;
  return first;
}

/// Replays the search: its random candidates are the same in the same order, and their scores are those that
/// were recorded, or on a shorter window the share of its latest (or first) tokens.
class SwiftReplay {
 public:
  SwiftReplay(const RecordedSearch& recorded, const StrategySpecification& asked)
      : window_(asked.integer("window")),
        every_(asked.integer("every")),
        is_same_window_(window_ == recorded.strategy.integer("window")),
        scores_first_(asked.text("scored-on") == "first"),
        progress_{.max_score = asked.number("max-score"),
                  .max_iterations = asked.integer("max-iterations"),
                  .max_tolerance = asked.integer("max-tolerance")} {
    std::unordered_map<traces::RoundId, bool> rounds;
    for (const RequestRows& rows : recorded.run.requests)
      for (const traces::Round& round : rows.rounds) rounds.emplace(round.id, true);
    search_.sets.push_back(swift_first_set(recorded.n_layers));
    for (const ScoredCandidate& candidate : recorded.candidates)
      if (rounds.contains(candidate.round_id)) {
        candidates_.push_back(&candidate);
        search_.sets.push_back(candidate.set);
      }
  }

  /// Nothing, if the rounds drafted with other sets than the scores adopt, as in a recording of several
  /// processes.
  std::optional<ReplayedSearch> replay(const RecordedSearch& recorded) && {
    for (const RequestRows& rows : recorded.run.requests) {
      std::vector<SearchedRound>& rounds = search_.rounds.emplace_back();
      std::int32_t emitted = 1;
      for (const traces::Round& round : rows.rounds) {
        emitted += round.emitted;
        SearchedRound& searched = rounds.emplace_back();
        searched.recorded_set = recorded_set_;
        const auto set = recorded.layer_sets.find(round.layer_set_id);
        if (set != recorded.layer_sets.end() &&
            skipped_by(*set->second) != search_.sets[recorded_set_].skipped)
          return std::nullopt;
        searched.asked_set = asked_set_;
        if (is_lost_)
          searched.draft = RoundSet::unknown;
        else if (asked_set_ != recorded_set_)
          searched.draft = RoundSet::known;
        const bool is_last = &round == &rows.rounds.back();
        const bool is_due = static_cast<std::int32_t>(rounds.size()) % every_ == 0 && emitted > window_ + 1;
        searched.is_followed = !is_last && is_due && progress_.end() == speculation::SwiftProgress::End::none;
        const bool followed =
            next_recorded_ < candidates_.size() && candidates_[next_recorded_]->round_id == round.id;
        if (searched.is_followed) score_next(round.id);
        if (followed) adopt_recorded();
      }
    }
    search_.has_ended = progress_.end() != speculation::SwiftProgress::End::none;
    return std::move(search_);
  }

 private:
  void score_next(traces::RoundId round_id) {
    ++search_.searches;
    if (next_ >= candidates_.size()) {
      is_lost_ = true;  // The recorded search had ended.
      ++progress_.iterations;
      return;
    }
    const ScoredCandidate& candidate = *candidates_[next_++];
    search_.is_exact = search_.is_exact && is_same_window_ && candidate.round_id == round_id;
    if (progress_.take(score_of(candidate))) asked_set_ = next_;
  }

  [[nodiscard]] double score_of(const ScoredCandidate& candidate) const {
    const auto window = static_cast<std::size_t>(window_);
    const double recorded = std::round(candidate.set.right) / candidate.set.judged;
    if (window >= candidate.hits.size()) return recorded;
    const std::string part =
        candidate.hits.substr(scores_first_ ? 0 : candidate.hits.size() - window, window);
    return static_cast<double>(std::ranges::count(part, '1')) / static_cast<double>(window);
  }

  void adopt_recorded() {
    const double score = candidates_[next_recorded_++]->set.right;
    if (score <= recorded_best_) return;
    recorded_best_ = score;
    recorded_set_ = next_recorded_;
  }

  std::int32_t window_;
  std::int32_t every_;
  bool is_same_window_;
  bool scores_first_;
  speculation::SwiftProgress progress_;
  std::vector<const ScoredCandidate*> candidates_;
  ReplayedSearch search_;
  std::size_t next_ = 0;           // candidates that were scored
  std::size_t asked_set_ = 0;      // index into the sets
  std::size_t next_recorded_ = 0;  // candidates that the recorded search had scored
  std::size_t recorded_set_ = 0;   // index into the sets
  double recorded_best_ = 0.0;     // tokens
  bool is_lost_ = false;           // whether candidates were scored that nobody recorded
};

std::optional<ReplayedSearch> swift_replay(const RecordedSearch& recorded,
                                           const StrategySpecification& asked) {
  if (!searches_differ_only_in(asked, recorded.strategy,
                               {"window", "every", "max-score", "max-iterations", "max-tolerance"}))
    return std::nullopt;
  return SwiftReplay(recorded, asked).replay(recorded);
}

}  // namespace

StrategyPredictions predict_of_swift() {
  return {.parts = {{.name = "swift",
                     .auxiliary = auxiliary_of<SwiftCandidates>,
                     .search = search_of<SwiftSearch>,
                     .replay_search = swift_replay,
                     .skipped = swift_skipped}}};
}

}  // namespace draftscope::simulator
