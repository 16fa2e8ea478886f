// SPDX-License-Identifier: GPL-3.0-or-later
// Multi-token prediction: the checkpoint's own next-token layer drafts, from the target's last state and the
// root, then from its own state and token (page.md).

#include <draftscope/engine/strategy.h>

#include <utility>

#include "strategies/engine.h"
#include "strategies/engine_model.h"

namespace draftscope::engine {

namespace {

Result<std::unique_ptr<Strategy>> make_mtp(const speculation::StrategySpecification& specification,
                                           const speculation::ModelShape& shape,
                                           const StrategyResources& resources) {
  if (!resources.open_next_token_layer)
    return fail("strategy mtp: next-token layer is missing, expected a checkpoint with a dense one");
  DRAFTSCOPE_TRY_ASSIGN(OpenedDraftModel layer, resources.open_next_token_layer());
  return std::make_unique<DraftsWithModel>(std::move(layer), shape.n_layers, rules_of_model(specification));
}

}  // namespace

StrategyMakers engine_of_mtp() {
  return {.strategies = {{.name = "mtp", .make = make_mtp}}};
}

}  // namespace draftscope::engine
