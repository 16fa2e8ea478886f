// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/searches/redrafted_run.h"

#include <algorithm>
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

}  // namespace draftscope::simulator
