// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of a run as recorded, with effects that only a recorded run's time shows: host time outside passes,
// and the effect of its rounds on the caches.
#include <draftscope/simulator/rounds/round_prices.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "rounds/drafts/decode_times.h"
#include "rounds/drafts/recorded_statistics.h"
#include "rounds/drafts/staged_passes.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

double ratio_or_1(double measured_ns, double priced_ns) {
  return measured_ns > 0.0 && priced_ns > 0.0 ? measured_ns / priced_ns : 1.0;
}

/// Puts the measured times of the run beside its prices on the recorded machine, if there are any.
void add_own_ratios(const TrainedRecording& trained, const RunRows& run, StrategyRounds& rounds) {
  const CostModel& model = trained.costs.model;
  if (!model.from_trace) return;
  const auto prices = answer_prices(model, rounds, Machine{"as recorded", fitted_scenario(model)});
  if (!prices) return;
  const RoundStatistics sum = sum_of(rounds.setting.min_drafted);
  const PartTimes priced = part_times(sum, rounds.auxiliary_passes, *prices);
  const DecodeTimes measured = decode_times(run);
  rounds.own_ratio = ratio_or_1(measured.all_ns, time_ns(sum, *prices));
  rounds.own_draft_ratio = ratio_or_1(measured.draft_ns, priced.draft_ns);
  rounds.own_verify_ratio = ratio_or_1(measured.verify_ns, priced.verify_ns);
  constexpr double worth_a_note = 0.005;
  if (std::abs(rounds.own_ratio - 1.0) > worth_a_note)
    rounds.notes.push_back(fmt::format(
        "its time is {:+.1f} % off the prices of all runs' passes; only the recorded machine's answer has "
        "that",
        100.0 * (rounds.own_ratio - 1.0)));
}

/// Adds the host time of its rounds beyond that of other runs' rounds.
void add_host(const std::vector<HostOfRun>& hosts, traces::RunId run_id, StrategyRounds& rounds) {
  const auto host = std::ranges::find(hosts, run_id, &HostOfRun::run_id);
  if (host != hosts.end() && host->ns_per_round > 0.0) add_host_time(host->ns_per_round, rounds);
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

}  // namespace

Result<StrategyRounds> recorded_rounds(const TrainedRecording& trained, const RunRows& run) {
  const RunRows first = first_repeat(run);
  DRAFTSCOPE_TRY_ASSIGN(
      RecordedStatistics recorded,
      recorded_statistics(first, trained.layer_sets, trained.recording->meta, trained.costs.model.shape));
  add_staged_passes(trained.staged_passes, first, recorded);
  StrategyRounds rounds{.strategy = run.run->specification, .source = RoundSource::recorded};
  for (std::size_t i = 0; i < first.requests.size(); ++i) {
    const RequestRows& rows = first.requests[i];
    rounds.vanilla.push_back(vanilla_steps_of(rows, recorded.requests[i].tokens));
    rounds.categories.push_back(rows.prompt->category);
    rounds.prompts.push_back(rows.prompt->id);
  }
  rounds.setting = {
      .status = AnswerStatus::exact, .min_drafted = std::move(recorded.requests), .max_drafted = {}};
  rounds.drafts = std::move(recorded.drafts);
  rounds.verified_layers = rounds.drafts.empty() ? verified_layers(*run.run) : VerifiedLayers::all;
  rounds.auxiliary_passes = std::move(recorded.auxiliary_passes);
  rounds.draft_model = std::move(recorded.draft_model);
  rounds.lacks_draft_model = recorded.lacks_draft_model;
  add_host(trained.hosts, run.run->id, rounds);
  add_own_ratios(trained, run, rounds);
  add_search_note(first, rounds);
  return rounds;
}

}  // namespace draftscope::simulator
