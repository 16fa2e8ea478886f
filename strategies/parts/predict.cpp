// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>

#include "rounds/replay/policy.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

namespace {

std::unique_ptr<Policy> fixed_exit(const speculation::StrategySpecification& mix,
                                   const ReplayModel& /*model*/) {
  return std::make_unique<FixedExit>(mix.integer("exit"));
}

}  // namespace

StrategyPredictions predict_of_parts() {
  return {.parts = {{.name = "exit", .policy = fixed_exit},
                    {.kind = speculation::PartKind::stop, .name = "none"},
                    {.kind = speculation::PartKind::shape, .name = "chain"},
                    {.kind = speculation::PartKind::shape, .name = "tree"}}};
}

}  // namespace draftscope::simulator
