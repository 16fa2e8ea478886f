// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/redrafted_run.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace draftscope::simulator {

namespace {

/// The recorded round that drafted at this root, or the last earlier one that drafted; the first one if none
/// did.
const traces::Round& drafting_round(const RequestRows& rows, std::int32_t root_position) {
  const traces::Round* found = nullptr;
  for (const traces::Round& round : rows.rounds) {
    if (round.root_position > root_position && found != nullptr) break;
    if (round.drafted > 0) found = &round;
  }
  return found != nullptr ? *found : rows.rounds.front();
}

}  // namespace

RedraftedRun::RedraftedRun(const traces::Run& like, const speculation::StrategySpecification& strategy)
    : run_(like) {
  run_.strategy = strategy.name();
  run_.specification = strategy.given();
  run_.parameters = strategy.json();
  rows_.run = &run_;
}

void RedraftedRun::add(const RequestRows& like, std::vector<traces::Round> rounds) {
  rounds_.push_back(std::move(rounds));
  RequestRows& request = rows_.requests.emplace_back();
  request.request = like.request;
  request.prompt = like.prompt;
  request.rounds = rounds_.back();
}

void RedraftedRun::draft_with(traces::LayerSetId set_id) {
  for (std::vector<traces::Round>& rounds : rounds_)
    for (traces::Round& round : rounds)
      if (round.drafted > 0) round.layer_set_id = set_id;
}

std::vector<traces::Round> as_recorded(const RequestRows& like, std::span<const ReplayedRound> replayed,
                                       Waste waste) {
  std::vector<traces::Round> rounds;
  rounds.reserve(replayed.size());
  for (const ReplayedRound& round : replayed) {
    const DraftOutcome& outcome = waste == Waste::least ? round.least : round.most;
    traces::Round& row = rounds.emplace_back();
    row.request_id = like.request->id;
    row.index = static_cast<std::int32_t>(rounds.size()) - 1;
    row.root_position = round.root_position;
    row.planned = round.plan.length;
    row.threshold = round.plan.threshold;
    row.drafted = outcome.drafted;
    row.tree_depth = outcome.steps();
    row.accepted = outcome.accepted;
    row.emitted = round.emitted;
    row.verify_rows = outcome.drafted + 1;
    if (outcome.drafted < 1) continue;
    const traces::Round& recorded = drafting_round(like, round.root_position);
    row.layer_set_id = recorded.layer_set_id;
    row.exit_layer = recorded.exit_layer;
  }
  return rounds;
}

void mark_searches(SearchSchedule& schedule, std::vector<traces::Round>& rounds) {
  schedule.begin_request();
  for (traces::Round& round : rounds) round.optimise_ns = schedule.follows(round) ? 1 : 0;
  // After a request's last round there is nothing to search for.
  if (!rounds.empty()) rounds.back().optimise_ns = 0;
}

std::int64_t ended_searches(const RunRows& run) {
  std::int64_t searches = 0;
  bool is_last = false;
  for (const RequestRows& rows : run.requests)
    for (const traces::Round& round : rows.rounds) {
      // No search follows the round that ends a request, whether or not searches continue.
      if (&round == &rows.rounds.back() && round.optimise_ns == 0) continue;
      is_last = round.optimise_ns > 0;
      searches += is_last ? 1 : 0;
    }
  return is_last ? -1 : searches;
}

traces::LayerSet new_layer_set(const SkippedSublayers& skipped, const LayerSetsById& known) {
  std::int64_t last = 0;
  for (const auto& [id, set] : known) last = std::max(last, id.value());
  const auto n_layers = static_cast<std::int32_t>(skipped.size() / 2);
  traces::LayerSet set{.id = traces::LayerSetId::from(last + 1),
                       .n_layers = n_layers,
                       .exit_layer = n_layers,
                       .origin = "modelled"};
  set.skipped.resize((skipped.size() + 7) / 8);
  for (std::size_t bit = 0; bit < skipped.size(); ++bit)
    if (skipped[bit]) set.skipped[bit / 8] |= static_cast<std::uint8_t>(1U << (bit % 8));
  return set;
}

SearchedRun::SearchedRun(const RunRows& recorded, const LayerSetsById& sets, const ReplayedSearch& search)
    : sets_(sets), rows_(recorded) {
  for (std::size_t request = 0; request < rows_.requests.size(); ++request) {
    RequestRows& rows = rows_.requests[request];
    std::vector<traces::Round>& rounds = rounds_.emplace_back(rows.rounds.begin(), rows.rounds.end());
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const SearchedRound& searched = search.rounds[request][i];
      rounds[i].optimise_ns = searched.is_followed ? 1 : 0;
      if (searched.draft == RoundSet::known && rounds[i].layer_set_id != 0)
        rounds[i].layer_set_id = id_of(search.sets[searched.asked_set].skipped);
    }
    rows.rounds = rounds;
  }
}

traces::LayerSetId SearchedRun::id_of(const SkippedSublayers& skipped) {
  const auto found = std::ranges::find(asked_, skipped, &Asked::skipped);
  if (found != asked_.end()) return found->set.id;
  const traces::LayerSet& set = asked_.emplace_back(Asked{skipped, new_layer_set(skipped, sets_)}).set;
  sets_.emplace(set.id, &set);
  return set.id;
}

}  // namespace draftscope::simulator
