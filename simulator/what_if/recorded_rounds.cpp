// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of a run as they were recorded, with what only a recorded run's time shows: searches, and what its
// rounds do to the caches.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "costs/verified_layers.h"
#include "what_if/recorded_statistics.h"
#include "what_if/trained_recording.h"

namespace draftscope::simulator {

namespace {

double mean_vanilla_step_ns(const std::vector<RunRows>& runs) {
  std::int64_t ns = 0;
  std::int64_t steps = 0;
  for (const RunRows& run : runs) {
    if (!run.run->is_baseline) continue;
    for (const RequestRows& request : run.requests)
      for (const traces::Round& round : request.rounds) {
        ns += round.end_ns - round.start_ns;
        ++steps;
      }
  }
  return steps > 0 ? static_cast<double>(ns) / static_cast<double>(steps) : 0.0;
}

/// The measured ratio, shrunk towards 1 by its noise.
double own_ratio(const std::vector<MeasuredRun>& measured_runs, traces::RunId run_id) {
  const auto found =
      std::find_if(measured_runs.begin(), measured_runs.end(),
                   [run_id](const MeasuredRun& measured) { return measured.run_id == run_id; });
  if (found == measured_runs.end()) return 1.0;
  constexpr double between_runs = 0.05;  // standard deviation that is expected of runs without noise
  const double signal = between_runs * between_runs;
  const double noise = found->relative_error * found->relative_error;
  return std::exp(signal / (signal + noise) * std::log(found->ratio));
}

void add_own_ratio(double ratio, StrategyRounds& rounds) {
  rounds.own_ratio = ratio;
  constexpr double worth_a_note = 0.005;
  if (std::abs(ratio - 1.0) > worth_a_note)
    rounds.notes.push_back(fmt::format(
        "its passes took {:+.1f} % beside such passes of all runs, which only the recorded machine's "
        "answer has",
        100.0 * (ratio - 1.0)));
}

void add_searches(double optimise_ns_per_round, double vanilla_step_ns, StrategyRounds& rounds) {
  if (!(optimise_ns_per_round > 0.0 && vanilla_step_ns > 0.0)) return;
  rounds.optimise_steps_per_round = optimise_ns_per_round / vanilla_step_ns;
  rounds.notes.push_back(
      fmt::format("its own passes and searches took {:.2f} vanilla steps a round, and are taken to anywhere",
                  rounds.optimise_steps_per_round));
}

}  // namespace

Result<StrategyRounds> recorded_rounds(const TrainedRecording& trained, const RunRows& run) {
  const RunRows first = first_repeat(run);
  DRAFTSCOPE_TRY_ASSIGN(RecordedStatistics recorded,
                        recorded_statistics(first, trained.recording->layer_sets));
  StrategyRounds rounds{.strategy = run.run->specification, .source = RoundSource::recorded};
  for (std::size_t i = 0; i < first.requests.size(); ++i) {
    const RequestRows& rows = first.requests[i];
    rounds.vanilla.push_back(vanilla_steps_of(rows, recorded.requests[i].tokens));
    rounds.categories.push_back(rows.prompt->category);
  }
  rounds.setting = {.status = AnswerStatus::exact, .least = std::move(recorded.requests), .most = {}};
  rounds.drafts = std::move(recorded.drafts);
  rounds.verified_layers = rounds.drafts.empty() ? verified_layers(*run.run) : VerifiedLayers::all;
  add_own_ratio(own_ratio(trained.measured_runs, run.run->id), rounds);
  add_searches(recorded.optimise_ns_per_round, mean_vanilla_step_ns(trained.runs), rounds);
  return rounds;
}

}  // namespace draftscope::simulator
