// SPDX-License-Identifier: GPL-3.0-or-later
// Classic speculative decoding: a separate, smaller model of the same vocabulary drafts. Sources: Leviathan
// et al. 2023, Chen et al. 2023; transformers' assisted generation for the schedules and the confidence
// threshold (page.md).

#include <draftscope/engine/strategy.h>

#include <utility>

#include "strategies/engine.h"
#include "strategies/engine_rules.h"
#include "strategies/parts/rule.h"

namespace draftscope::engine {

namespace {

class TwoModel final : public Strategy {
 public:
  TwoModel(std::shared_ptr<Backend> backend, const speculation::LengthRule& length,
           const speculation::ThresholdRule& threshold, Acceptance acceptance)
      : backend_(std::move(backend)),
        model_{backend_.get(), 0},
        length_(length),
        threshold_(threshold),
        acceptance_(acceptance) {}

  void begin_request(const RequestView& request) override {
    model_.valid = 0;
    length_.begin_request(request);
    threshold_.begin_request(request);
  }
  RoundPlan plan(const RoundView& round) override {
    round_ = round;
    return {.draft_length = length_.length(round),
            .threshold = threshold_.threshold(round),
            .acceptance = acceptance_,
            .draft_model = &model_};
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    length_.observe(round_, outcome, log);
    threshold_.observe(round_, outcome, log);
  }
  const Backend* own_backend() const override { return backend_.get(); }

 private:
  std::shared_ptr<Backend> backend_;
  DraftModel model_;
  LengthByRule length_;
  ThresholdByRule threshold_;
  Acceptance acceptance_;
  RoundView round_;
};

Result<std::unique_ptr<Strategy>> make_two_model(const speculation::StrategySpecification& specification,
                                                 const speculation::ModelShape& shape,
                                                 const StrategyResources& resources) {
  const std::string& model = specification.text("model");
  if (model.empty())
    return fail("strategy two-model: model is missing, expected a folder, a GGUF file or synthetic:NAME");
  if (!resources.open_draft_model)
    return fail("strategy two-model: no second model can be opened here, expected record or generate");
  DRAFTSCOPE_TRY_ASSIGN(std::shared_ptr<Backend> backend, resources.open_draft_model(model));
  if (backend->shape().vocab != shape.vocab)
    return fail("strategy two-model: {} has a vocabulary of {}, expected the target's {}", model,
                backend->shape().vocab, shape.vocab);
  constexpr double no_threshold = -1.0;
  return std::make_unique<TwoModel>(
      std::move(backend), *speculation::length_rule(specification),
      speculation::threshold_rule(specification).value_or(speculation::FixedThreshold(no_threshold)),
      specification.text("acceptance") == "block" ? Acceptance::by_block : Acceptance::by_token);
}

}  // namespace

StrategyMakers engine_of_two_model() {
  return {.strategies = {{.name = "two-model", .make = make_two_model}}};
}

}  // namespace draftscope::engine
