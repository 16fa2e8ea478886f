// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

const std::vector<StrategyPredictions>& folders() {
  static const std::vector<StrategyPredictions> all = every_predict();
  return all;
}

}  // namespace

const PartPrediction* part_prediction(const speculation::StrategySpecification& strategy,
                                      speculation::PartKind kind) {
  for (const StrategyPredictions& folder : folders())
    for (const PartPrediction& part : folder.parts)
      if (part.kind == kind && part.name == strategy.part(kind)) return &part;
  return nullptr;
}

const StrategyPrediction& strategy_prediction(std::string_view name) {
  static const StrategyPrediction unknown;
  for (const StrategyPredictions& folder : folders())
    for (const StrategyPrediction& strategy : folder.strategies)
      if (strategy.name == name) return strategy;
  return unknown;
}

}  // namespace draftscope::simulator
