// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/known_rounds.h"

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "rounds/drafts/draft_tokens.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

namespace {

using traces::DraftStop;
using traces::DraftToken;

/// Prediction at a position, if the table has it.
const ShadowCell* cell_at(const ShadowTable& table, std::int32_t position, std::int32_t layer) {
  if (position < table.end()) return &table.cell(position, layer);
  if (position > table.end() || table.end_cells.empty()) return nullptr;
  return &table.end_cells[static_cast<std::size_t>(layer - 1)];
}

std::vector<DraftToken> chain(const ShadowTable& table, const ReplayedRound& round) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  std::vector<DraftToken> tokens;
  for (std::int32_t k = 0; k < round.least.drafted; ++k) {
    DraftToken token{.index = k,
                     .parent = k - 1,
                     .token = -1,
                     .confidence = unknown,
                     .probability = unknown,
                     .accepted = k < round.least.accepted,
                     .tested = k <= round.least.accepted};
    const ShadowCell* const cell =
        token.tested ? cell_at(table, round.root_position + 1 + k, round.plan.exit) : nullptr;
    if (cell != nullptr) {
      token.token = cell->token;
      token.confidence = static_cast<double>(cell->probability);
      token.probability = 1.0;
    }
    tokens.push_back(token);
  }
  return tokens;
}

/// End of the draft in the outcome with the fewest draft tokens.
DraftStop draft_stop(const ReplayedRound& round, const std::vector<DraftToken>& tokens,
                     const ReplayConditions& conditions) {
  const std::int32_t planned = round.plan.exit > 0 ? round.plan.length : 0;
  if (planned < 1) return DraftStop::no_draft;
  if (tokens.empty()) return DraftStop::budget;
  const DraftToken& last = tokens.back();
  if (std::find(conditions.end_tokens.begin(), conditions.end_tokens.end(), last.token) !=
      conditions.end_tokens.end())
    return DraftStop::eos;
  if (round.least.drafted == planned) return DraftStop::length;
  return last.confidence < round.plan.threshold || !(round.least == round.most) ? DraftStop::threshold
                                                                                : DraftStop::budget;
}

Result<std::vector<KnownRequest>> recorded_requests(const TrainedRecording& trained, const RunRows& run) {
  const RunRows first = first_repeat(run);
  DRAFTSCOPE_TRY_ASSIGN(
      const RecordedStatistics recorded,
      recorded_statistics(first, trained.layer_sets, trained.recording->meta, trained.costs.model.shape));
  std::vector<KnownRequest> requests;
  for (std::size_t i = 0; i < first.requests.size(); ++i) {
    const RequestRows& rows = first.requests[i];
    KnownRequest& request = requests.emplace_back(KnownRequest{rows.request, rows.prompt, {}});
    for (std::size_t k = 0; k < rows.rounds.size(); ++k) {
      const auto tokens = draft_tokens_of(*trained.recording, rows.rounds[k].id);
      request.rounds.push_back({.round = rows.rounds[k],
                                .draft_tokens = {tokens.begin(), tokens.end()},
                                .draft = recorded.by_round[i][k].number,
                                .draft_steps = recorded.by_round[i][k].steps});
    }
  }
  return requests;
}

}  // namespace

KnownRound known_round(const ShadowTable& table, const ReplayConditions& conditions,
                       const ReplayedRound& round, std::int32_t index) {
  KnownRound known;
  known.draft_tokens = chain(table, round);
  const std::int32_t drafted = round.least.drafted;
  const std::int32_t bonus = round.root_position + 1 + round.least.accepted;
  traces::Round& row = known.round;
  row.index = index;
  row.root_position = round.root_position;
  row.exit_layer = drafted > 0 ? round.plan.exit : 0;
  row.planned = round.plan.exit > 0 ? round.plan.length : 0;
  row.drafted = row.tree_depth = drafted;
  row.accepted = round.least.accepted;
  row.emitted = round.emitted;
  row.verify_rows = drafted + 1;
  if (bonus < table.end())
    row.bonus_token = table.text[static_cast<std::size_t>(bonus)];
  else if (bonus == table.end() && !table.end_cells.empty())
    row.bonus_token = table.end_cells.back().token;
  row.draft_stop = draft_stop(round, known.draft_tokens, conditions);
  row.threshold = round.plan.threshold;
  known.draft = row.exit_layer;
  known.draft_steps = drafted;
  return known;
}

Result<std::vector<KnownRequest>> known_rounds(const TrainedRecording& trained,
                                               const StrategyRounds& rounds) {
  const traces::Recording& recording = *trained.recording;
  if (rounds.source == RoundSource::modelled)
    return fail(
        "strategy {}: its acceptance is modelled, so there are no rounds to write, expected recorded or "
        "replayed ones (record it, or with --shadow)",
        rounds.strategy);
  if (traces::is_imported(recording.meta))
    return fail("strategy {}: {} is imported and lacks token ids and layer sets, expected a recording",
                rounds.strategy, recording.path.string());
  if (rounds.source == RoundSource::recorded) {
    if (const RunRows* const run = recorded_run(trained, rounds.strategy))
      return recorded_requests(trained, *run);
    return fail("strategy {}: found no such run in {}", rounds.strategy, recording.path.string());
  }
  std::unordered_map<traces::RequestId, KnownRequest> known;
  for (const RunRows& run : trained.runs)
    for (const RequestRows& rows : run.requests) known[rows.request->id] = {rows.request, rows.prompt, {}};
  std::vector<KnownRequest> requests;
  if (follows_from_texts(rounds.strategy)) {
    DRAFTSCOPE_TRY_ASSIGN(const auto lookups, replayed_lookups(trained, rounds.strategy));
    for (std::size_t i = 0; i < lookups.size(); ++i) {
      const ShadowTable& table = trained.texts().tables[i];
      KnownRequest& request = requests.emplace_back(known[table.request_id]);
      for (const LookupRound& round : lookups[i])
        request.rounds.push_back(known_round(table, round, static_cast<std::int32_t>(request.rounds.size())));
    }
    return requests;
  }
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, replayed_policy(trained, rounds.strategy));
  for (const ShadowTable& table : trained.shadowed.tables) {
    KnownRequest& request = requests.emplace_back(known[table.request_id]);
    for (const ReplayedRound& round : replay_rounds(table, *policy, trained.conditions))
      request.rounds.push_back(
          known_round(table, trained.conditions, round, static_cast<std::int32_t>(request.rounds.size())));
  }
  return requests;
}

}  // namespace draftscope::simulator
