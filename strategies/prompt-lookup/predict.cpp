// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/predict.h"
#include "rounds/round_sources.h"
#include "strategies/prompt-lookup/rule.h"

namespace draftscope::simulator {

namespace {

Result<TextRounds> prompt_rounds(const TrainedRecording& trained,
                                 const speculation::StrategySpecification& strategy, PricedGuard* guard) {
  const speculation::LookupOptions options = speculation::lookup_options(strategy);
  TextRounds rounds;
  for (const ShadowTable& table : trained.texts().tables)
    rounds.requests.push_back(
        replay_lookup(table, options, trained.conditions, trained.costs.model.shape.vocab, guard));
  return rounds;
}

}  // namespace

StrategyPredictions predict_of_prompt_lookup() {
  return {.strategies = {{.name = "prompt-lookup", .text_rounds = prompt_rounds}}};
}

}  // namespace draftscope::simulator
