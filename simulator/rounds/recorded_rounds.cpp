// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of a run as recorded, with effects that only a recorded run's time shows: host time outside passes,
// and the effect of its rounds on the caches.
#include <draftscope/simulator/rounds/round_prices.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/missing_data.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rounds/drafts/decode_times.h"
#include "rounds/drafts/drafted_positions.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/drafts/round_notes.h"
#include "rounds/redraft.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

double ratio_or_1(double measured_ns, double priced_ns) {
  return measured_ns > 0.0 && priced_ns > 0.0 ? measured_ns / priced_ns : 1.0;
}

/// Empty where a run's time is that of its prices.
std::string own_time_note(const StrategyRounds& rounds) {
  constexpr double worth_a_note = 0.005;
  if (!(std::abs(rounds.own_ratio - 1.0) > worth_a_note)) return {};
  return fmt::format(
      "beside vanilla decoding its time is {:+.1f} % off the prices of all runs' passes; only the recorded "
      "machine's answer has that",
      100.0 * (rounds.own_ratio - 1.0));
}

RunRows on_prompts(const RunRows& run, const std::set<traces::PromptId>& prompts) {
  RunRows subset{run.run, {}, 0};
  std::ranges::copy_if(run.requests, std::back_inserter(subset.requests),
                       [&](const RequestRows& rows) { return prompts.contains(rows.prompt->id); });
  return subset;
}

/// Adds the number of rounds in which an adaptive strategy searched, since its cost ends with the search.
void add_search_note(const RunRows& run, StrategyRounds& rounds) {
  std::int64_t searched = 0;
  std::int64_t all = 0;
  for (const RequestRows& request : run.requests)
    for (const traces::Round& round : request.rounds) {
      ++all;
      searched += round.optimise_ns > 0 ? 1 : 0;
    }
  if (searched > 0)
    rounds.notes.push_back(
        fmt::format("passes of its own followed {} of {} rounds; they are priced on the machine asked about",
                    searched, all));
}

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

Result<StrategyRounds> recorded_rounds(const TrainedRecording& trained, const RunRows& run) {
  const RunRows first = first_repeat(run);
  DRAFTSCOPE_TRY_ASSIGN(
      RecordedStatistics recorded,
      recorded_statistics(first, trained.layer_sets, trained.recording->meta, trained.costs.model.shape));
  add_staged_passes(trained.staged_passes, first, recorded);
  StrategyRounds rounds = rounds_on_texts(first, run.run->specification, RoundSource::recorded);
  put_statistics(std::move(recorded), rounds);
  rounds.verified_layers = rounds.drafts.empty() ? verified_layers(*run.run) : VerifiedLayers::all;
  add_host_time(trained.hosts, run.run->id, rounds);
  put_own_ratios(trained, run, vanilla_of(trained, run), rounds, rounds);
  add_search_note(first, rounds);
  return rounds;
}

RunRows vanilla_of(const TrainedRecording& trained, const RunRows& run) {
  const RunRows* const vanilla = baseline_of(trained.runs);
  if (vanilla == nullptr) return {};
  std::set<traces::PromptId> prompts;
  for (const RequestRows& rows : run.requests) prompts.insert(rows.prompt->id);
  return on_prompts(*vanilla, prompts);
}

double vanilla_time_ratio(const RunRows& vanilla, const Prices& prices) {
  std::vector<PassCount> steps;
  for (const RequestRows& rows : first_repeat(vanilla).requests)
    steps.push_back(vanilla_steps_of(rows, emitted_tokens(rows)));
  return ratio_or_1(decode_times(vanilla).all_ns, vanilla_time_ns(sum_of(steps), prices));
}

void put_own_ratios(const TrainedRecording& trained, const RunRows& run, const RunRows& vanilla,
                    const StrategyRounds& own, StrategyRounds& into) {
  const CostModel& model = trained.costs.model;
  const DecodeTimes measured = decode_times(run);
  if (!model.from_trace || !(measured.all_ns > 0.0)) return;
  const auto prices = answer_prices(model, own, Machine{"as recorded", fitted_scenario(model)});
  if (!prices) return;
  std::erase(into.notes, own_time_note(into));
  const RoundStatistics sum = sum_of(own.setting.min_drafted);
  const PartTimes priced = part_times(sum, own.auxiliary_passes, *prices);
  into.vanilla_ratio = vanilla_time_ratio(vanilla, *prices);
  into.own_ratio = ratio_or_1(measured.all_ns, into.vanilla_ratio * time_ns(sum, *prices));
  into.own_draft_ratio = ratio_or_1(measured.draft_ns, into.vanilla_ratio * priced.draft_ns);
  into.own_verify_ratio = ratio_or_1(measured.verify_ns, into.vanilla_ratio * priced.verify_ns);
  into.is_measured = true;
  if (std::string note = own_time_note(into); !note.empty()) into.notes.push_back(std::move(note));
}

std::optional<MeasuredRounds> measured_rounds(const TrainedRecording& trained, const StrategyRounds& rounds) {
  if (!rounds.is_measured || rounds.source != RoundSource::recorded) return std::nullopt;
  const RunRows* const run = recorded_run(trained, rounds.strategy);
  if (run == nullptr) return std::nullopt;
  auto recorded = recorded_rounds(trained, *run);
  if (!recorded) return std::nullopt;
  return MeasuredRounds{run, *std::move(recorded)};
}

void put_own_ratios(const TrainedRecording& trained, const MeasuredRounds& measured,
                    std::span<const traces::PromptId> prompts, StrategyRounds& part) {
  const std::set<traces::PromptId> asked(prompts.begin(), prompts.end());
  StrategyRounds own = measured.rounds;
  own.setting.min_drafted.clear();
  for (std::size_t i = 0; i < own.prompts.size(); ++i)
    if (asked.contains(own.prompts[i]))
      own.setting.min_drafted.push_back(measured.rounds.setting.min_drafted[i]);
  const RunRows run = on_prompts(*measured.run, asked);
  put_own_ratios(trained, run, vanilla_of(trained, run), own, part);
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
