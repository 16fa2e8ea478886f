// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/run_specification.h"
#include "rounds/round_sources.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

/// Predicts rounds from those of a recorded cascade with the same drafters.
Result<StrategyRounds> cascade_rounds(const TrainedRecording& trained,
                                      const speculation::StrategySpecification& cascade,
                                      std::string_view text, const Machine* /*machine*/) {
  for (const RunRows& run : trained.runs) {
    const auto recorded = run_specification(*run.run, trained.n_layers());
    if (!recorded || recorded->name() != cascade.name() || recorded->text("levels") != cascade.text("levels"))
      continue;
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, recorded_rounds(trained, run));
    rounds.strategy = std::string(text);
    rounds.source = RoundSource::modelled;
    rounds.setting.status = AnswerStatus::approximate;
    rounds.notes.push_back(
        fmt::format("rounds are those of run {}: other limits of a cascade of the same drafters are taken to "
                    "draft as well",
                    run.run->specification));
    return rounds;
  }
  return fail("strategy {}: {} (approximate), expected a recorded run with levels={}", text,
              cascade.no_replay(), cascade.text("levels"));
}

}  // namespace

StrategyPredictions predict_of_cascade() {
  return {.strategies = {{.name = "cascade", .rounds = cascade_rounds}}};
}

}  // namespace draftscope::simulator
