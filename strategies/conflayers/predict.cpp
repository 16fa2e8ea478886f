// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <optional>
#include <unordered_map>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/searches/replayed_search.h"
#include "rounds/searches/search_schedule.h"
#include "strategies/conflayers/rule.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

using speculation::ConfidenceSearches;
using speculation::StrategySpecification;

/// Passes of the window through all layers but the last.
class ConfidencePasses final : public AuxiliaryRule {
 public:
  ConfidencePasses(const StrategySpecification& mix, const speculation::ModelShape& shape)
      : window_(mix.integer("window")), n_layers_(shape.n_layers) {}

  void after_round(const AuxiliaryRound& round, AuxiliaryPasses& passes,
                   std::vector<PassCount>& counts) const override {
    passes.count({AuxiliaryPassKind::confidences, window_, n_layers_ - 1, n_layers_ - 1, false}, 1,
                 std::max(round.root_position + round.accepted + 1 - window_, 0), counts);
  }

 private:
  std::int32_t window_;
  std::int32_t n_layers_;
};

/// Assumes that every search finds a set that is tried.
class ConfidenceSearch final : public SearchRule {
 public:
  ConfidenceSearch(const StrategySpecification& mix, std::int32_t n_layers, std::int64_t /*max_searches*/)
      : searches_(speculation::confidence_options(mix, n_layers)) {}

  void begin_request() override { searches_.begin_request(); }

  bool follows(const traces::Round& round) override {
    const std::int32_t tried = searches_.least();
    const bool follows = searches_.follows(
        {.emitted = round.emitted, .accepted = round.accepted, .steps = round.tree_depth}, tried);
    if (follows) searches_.found(tried);
    return follows;
  }

 private:
  ConfidenceSearches searches_;
};

SkippedSublayerCounts conflayers_skipped(const StrategySpecification& mix, std::int32_t n_layers) {
  const std::int32_t layers = ConfidenceSearches(speculation::confidence_options(mix, n_layers)).least();
  return {layers, layers};
}

/// Replays the rule on recorded rounds, as long as it searches where the recorded one did. If it ends before,
/// the set stays that it ends with.
class ConfLayersReplay {
 public:
  ConfLayersReplay(const RecordedSearch& recorded, const StrategySpecification& asked)
      : recorded_(recorded),
        searches_(speculation::confidence_options(asked, recorded.n_layers)),
        is_other_window_(asked.integer("window") != recorded.strategy.integer("window")) {}

  ReplayedSearch replay() && {
    const RunRows& run = recorded_.run;
    for (const RequestRows& rows : run.requests)
      for (const traces::Round& round : rows.rounds) drafting_.push_back(round.layer_set_id);
    // Rounds without a draft have the next draft's set, or the last one's.
    for (std::size_t i = drafting_.size(); i-- > 1;)
      if (drafting_[i - 1] == 0) drafting_[i - 1] = drafting_[i];
    for (std::size_t i = 1; i < drafting_.size(); ++i)
      if (drafting_[i] == 0) drafting_[i] = drafting_[i - 1];
    std::size_t number = 0;
    for (const RequestRows& rows : run.requests) {
      searches_.begin_request();
      search_.rounds.emplace_back();
      for (const traces::Round& round : rows.rounds) add(round, &round == &rows.rounds.back(), number++);
    }
    search_.has_ended = searches_.has_ended();
    return std::move(search_);
  }

 private:
  void add(const traces::Round& round, bool is_last, std::size_t number) {
    const std::size_t set = set_of(drafting_[number]);
    SearchedRound& searched = search_.rounds.back().emplace_back();
    searched.recorded_set = set;
    searched.asked_set = end_set_.value_or(set);
    if (is_lost_)
      searched.draft = RoundSet::unknown;
    else if (searched.asked_set != set)
      searched.draft = RoundSet::known;
    const std::int32_t left_out = is_lost_ ? searches_.least() : layers_of(search_.sets[searched.asked_set]);
    const bool is_due = searches_.follows(
        {.emitted = round.emitted, .accepted = round.accepted, .steps = round.tree_depth}, left_out);
    if (searches_.is_best()) best_ = searched.asked_set;
    searched.is_followed = is_due && !is_last;
    if (searched.is_followed) ++search_.searches;
    if (end_set_ || is_lost_) {
      if (searched.is_followed) searches_.found(searches_.least());
      return;
    }
    if (searched.is_followed) {
      const std::size_t found =
          set_of(number + 1 < drafting_.size() ? drafting_[number + 1] : drafting_[number]);
      is_lost_ = is_other_window_ || round.optimise_ns <= 0;
      searches_.found(is_lost_ ? searches_.least() : layers_of(search_.sets[found]));
      if (searches_.has_ended() && !is_lost_) end_set_ = best_.value_or(found);
    } else if (round.optimise_ns > 0) {
      if (searches_.has_ended())
        end_set_ = set;
      else
        is_lost_ = true;
    }
  }

  std::size_t set_of(traces::LayerSetId id) {
    const auto [known, is_new] = number_of_.try_emplace(id, search_.sets.size());
    if (!is_new) return known->second;
    TriedSet& set = search_.sets.emplace_back();
    set.skipped.resize(2 * static_cast<std::size_t>(recorded_.n_layers));
    if (const auto found = recorded_.layer_sets.find(id); found != recorded_.layer_sets.end())
      set.skipped = skipped_by(*found->second);
    return known->second;
  }

  static std::int32_t layers_of(const TriedSet& set) {
    return static_cast<std::int32_t>(std::ranges::count(set.skipped, true) / 2);
  }

  const RecordedSearch& recorded_;
  ConfidenceSearches searches_;
  bool is_other_window_;
  std::vector<traces::LayerSetId> drafting_;  // set of each round
  std::unordered_map<traces::LayerSetId, std::size_t> number_of_;
  ReplayedSearch search_;
  std::optional<std::size_t> best_;     // of the sets that were judged
  std::optional<std::size_t> end_set_;  // set with which the search ended before the recorded one
  bool is_lost_ = false;                // whether a search was made that nobody recorded
};

std::optional<ReplayedSearch> conflayers_replay(const RecordedSearch& recorded,
                                                const StrategySpecification& asked) {
  return ConfLayersReplay(recorded, asked).replay();
}

}  // namespace

StrategyPredictions predict_of_conflayers() {
  return {.parts = {{.name = "conflayers",
                     .auxiliary = auxiliary_of<ConfidencePasses>,
                     .search = search_of<ConfidenceSearch>,
                     .replay_search = conflayers_replay,
                     .skipped = conflayers_skipped}}};
}

}  // namespace draftscope::simulator
