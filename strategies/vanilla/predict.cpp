// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>

#include "rounds/replay/policy.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

std::unique_ptr<Policy> no_draft() {
  return std::make_unique<NoDraft>();
}

}  // namespace

StrategyPredictions predict_of_vanilla() {
  return {.strategies = {{.name = "vanilla", .policy = no_draft}}};
}

}  // namespace draftscope::simulator
