// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of early exits where no layer's predictions were recorded: from a model of acceptance.
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include <algorithm>

#include "replay/acceptance_models.h"
#include "replay/policy_choice.h"
#include "what_if/recorded_statistics.h"
#include "what_if/trained_recording.h"

namespace draftscope::simulator {

namespace {

bool has_rounds_of_an_exit(const RunRows& run) {
  return run.run->strategy == "layerskip" && !run.requests.empty() && !run.requests.front().rounds.empty();
}

const std::optional<AcceptanceModel>& acceptance_of_exit(const TrainedRecording& trained,
                                                         const RunRows& run) {
  return trained.acceptance->of(run.run->id,
                                [&] { return fit_markov_acceptance(acceptance_bits(first_repeat(run))); });
}

}  // namespace

void fit_acceptance(const TrainedRecording& trained) {
  if (!trained.shadowed.tables.empty()) return;
  for (const RunRows& run : trained.runs)
    if (has_rounds_of_an_exit(run)) (void)acceptance_of_exit(trained, run);
}

Result<StrategyRounds> modelled_rounds(const TrainedRecording& trained, std::string_view strategy) {
  if (speculation::strategy_name(strategy) != "layerskip")
    return fail("strategy {}: {}, expected layerskip, which alone can be modelled without shadow tokens",
                strategy, trained.no_tables_reason);
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(*trained.recording));
  DRAFTSCOPE_TRY_ASSIGN(const PolicyChoice choice, policy_of_specification(strategy, model));
  PlannedRound plan;
  choice.policy->plan({}, plan);
  const auto run = std::find_if(trained.runs.begin(), trained.runs.end(), [&](const RunRows& candidate) {
    return has_rounds_of_an_exit(candidate) &&
           candidate.requests.front().rounds.front().exit_layer == plan.exit;
  });
  if (run == trained.runs.end())
    return fail("strategy {}: {}, expected them or a layerskip run of exit {}", strategy,
                trained.no_tables_reason, plan.exit);
  const RunRows first = first_repeat(*run);
  const std::optional<AcceptanceModel>& fitted = acceptance_of_exit(trained, *run);
  if (!fitted)
    return fail("run {}: found no draft token that was judged, expected one", run->run->specification);
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::modelled,
                        .verified_layers = specified_verified_layers(strategy)};
  rounds.setting.status = AnswerStatus::approximate;
  for (const RequestRows& rows : first.requests) {
    const std::int64_t tokens = emitted_tokens(rows);
    const std::int64_t context = rows.rounds.front().root_position;
    rounds.vanilla.push_back(vanilla_steps_of(rows, tokens));
    rounds.setting.least.push_back(expected_statistics(
        *fitted, {.exit = plan.exit, .length = plan.length, .tokens = tokens, .first_context = context}));
    rounds.categories.push_back(rows.prompt->category);
  }
  rounds.notes.push_back(
      fmt::format("acceptance is modelled (two hidden states) from run {}; record with --shadow to know it",
                  run->run->specification));
  return rounds;
}

}  // namespace draftscope::simulator
