// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/known_rounds.h"

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/missing_data.h>

#include <algorithm>
#include <unordered_map>

#include "rounds/drafts/draft_tokens.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

Result<std::vector<KnownRequest>> recorded_requests(const TrainedRecording& trained, const RunRows& run) {
  const RunRows first = first_repeat(run);
  DRAFTSCOPE_TRY_ASSIGN(
      const RecordedStatistics recorded,
      recorded_statistics(first, trained.layer_sets, trained.recording->meta, trained.costs.model.shape));
  const std::int32_t max_new_tokens = recorded_token_budget(trained.recording->meta);
  std::vector<KnownRequest> requests;
  for (std::size_t i = 0; i < first.requests.size(); ++i) {
    const RequestRows& rows = first.requests[i];
    KnownRequest& request = requests.emplace_back(KnownRequest{rows.request, rows.prompt, {}});
    for (std::size_t k = 0; k < rows.rounds.size(); ++k) {
      const auto tokens = draft_tokens_of(*trained.recording, rows.rounds[k].id);
      request.rounds.push_back(
          {.round = rows.rounds[k],
           .draft_tokens = {tokens.begin(), tokens.end()},
           .draft = recorded.by_round[i][k].number,
           .draft_steps = recorded.by_round[i][k].steps,
           .planned_rows = planned_rows(rows.rounds[k], rows.rounds.front().root_position, max_new_tokens)});
    }
  }
  return requests;
}

}  // namespace

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
    DRAFTSCOPE_TRY_ASSIGN(const TextRounds lookups, replayed_lookups(trained, rounds.strategy));
    for (std::size_t i = 0; i < lookups.requests.size(); ++i) {
      const ShadowTable& table = trained.texts().tables[i];
      KnownRequest& request = requests.emplace_back(known[table.request_id]);
      for (const LookupRound& round : lookups.requests[i])
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
