// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/predict.h"
#include "rounds/round_sources.h"
#include "strategies/suffix-decoding/rule.h"

namespace draftscope::simulator {

namespace {

Result<TextRounds> suffix_rounds(const TrainedRecording& trained,
                                 const speculation::StrategySpecification& strategy, PricedGuard* guard) {
  return TextRounds{.requests = replay_suffixes(trained.texts().tables, speculation::suffix_options(strategy),
                                                trained.conditions, guard)};
}

}  // namespace

StrategyPredictions predict_of_suffix_decoding() {
  return {.strategies = {{.name = "suffix-decoding", .text_rounds = suffix_rounds}}};
}

}  // namespace draftscope::simulator
