// SPDX-License-Identifier: GPL-3.0-or-later
// Classic speculative decoding: a separate, smaller model with the same tokens drafts. Sources: Leviathan
// et al. 2023, Chen et al. 2023; transformers' assisted generation for the schedules and the confidence
// threshold (page.md).

#include <draftscope/engine/strategy.h>

#include <utility>

#include "strategies/engine.h"
#include "strategies/engine_model.h"

namespace draftscope::engine {

namespace {

Result<std::unique_ptr<Strategy>> make_two_model(const speculation::StrategySpecification& specification,
                                                 const speculation::ModelShape& shape,
                                                 const StrategyResources& resources) {
  const std::string& model = specification.text("model");
  if (model.empty())
    return fail("strategy two-model: model is missing, expected a folder, a GGUF file or synthetic:NAME");
  if (!resources.open_draft_model)
    return fail("strategy two-model: no second model can be opened here, expected record or generate");
  DRAFTSCOPE_TRY_ASSIGN(OpenedDraftModel opened, resources.open_draft_model(model));
  if (opened.shared_tokens == nullptr && opened.backend->shape().vocab != shape.vocab)
    return fail("strategy two-model: {} has a vocabulary of {}, expected the target's {}", model,
                opened.backend->shape().vocab, shape.vocab);
  return std::make_unique<DraftsWithModel>(std::move(opened), shape.n_layers, rules_of_model(specification));
}

}  // namespace

StrategyMakers engine_of_two_model() {
  return {.strategies = {{.name = "two-model", .make = make_two_model}}};
}

}  // namespace draftscope::engine
