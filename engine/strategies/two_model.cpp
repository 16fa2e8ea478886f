// SPDX-License-Identifier: GPL-3.0-or-later
// Classic speculative decoding: another, smaller model of the same vocabulary drafts. Sources: Leviathan et
// al. 2023, Chen et al. 2023; transformers' assisted generation for the schedules and the confidence
// threshold (docs/methods.md, Two models).

#include <draftscope/engine/draft_model.h>

#include <utility>

#include "strategies/lengths.h"
#include "strategies/strategies.h"

namespace draftscope::engine {

namespace {

class TwoModel final : public Strategy {
 public:
  TwoModel(std::shared_ptr<Backend> backend, std::shared_ptr<LengthChoice> length,
           std::shared_ptr<Learner> schedule, double threshold)
      : backend_(std::move(backend)),
        model_{backend_.get(), 0},
        length_(std::move(length)),
        schedule_(std::move(schedule)),
        threshold_(threshold) {}

  void begin_request(const RequestView& request) override {
    model_.valid = 0;
    if (schedule_ != nullptr) schedule_->begin_request(request);
  }
  RoundPlan plan(const RoundView& round) override {
    round_ = round;
    return {.draft_length = length_->length(round), .threshold = threshold_, .draft_model = &model_};
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    if (schedule_ != nullptr) schedule_->observe(round_, outcome, log);
  }

 private:
  std::shared_ptr<Backend> backend_;
  DraftModel model_;
  std::shared_ptr<LengthChoice> length_;
  std::shared_ptr<Learner> schedule_;
  double threshold_;
  RoundView round_;
};

Result<std::unique_ptr<Strategy>> make_two_model(Parameters& parameters, const speculation::ModelShape& shape,
                                                 const StrategyResources& resources) {
  DRAFTSCOPE_TRY_ASSIGN(const std::int32_t gamma, parameters.integer("gamma", 0, 63));
  DRAFTSCOPE_TRY_ASSIGN(const double threshold, parameters.number("threshold", 0.0, 1.0));
  DRAFTSCOPE_TRY_ASSIGN(const std::string schedule,
                        parameters.one_of("schedule", {"constant", "heuristic", "transient"}));
  const std::string& model = parameters.text("model");
  if (model.empty()) return fail("strategy two-model: model is missing, expected a folder or synthetic:NAME");
  if (!resources.open_draft_model)
    return fail("strategy two-model: no second model can be opened here, expected record or generate");
  DRAFTSCOPE_TRY_ASSIGN(std::shared_ptr<Backend> backend, resources.open_draft_model(model));
  if (backend->shape().vocab != shape.vocab)
    return fail("strategy two-model: {} has a vocabulary of {}, expected the target's {}", model,
                backend->shape().vocab, shape.vocab);
  const double stop = threshold > 0.0 ? threshold : -1.0;
  if (schedule == "constant")
    return std::make_unique<TwoModel>(std::move(backend), std::make_shared<FixedLength>(gamma), nullptr,
                                      stop);
  const auto heuristic = std::make_shared<HeuristicLength>(std::max(gamma, 1), schedule == "transient");
  return std::make_unique<TwoModel>(std::move(backend), heuristic, heuristic, stop);
}

}  // namespace

StrategyEntry two_model_entry() {
  return {
      .description = {.name = "two-model",
                      .summary = "another, smaller model of the same vocabulary drafts",
                      .source = "Leviathan et al. 2023; Chen et al. 2023",
                      .parameters = {{"model", "", "folder", "the draft's checkpoint, as --model takes it"},
                                     {"gamma", "5", "tokens", "speculation length; transformers 5: 20"},
                                     {"schedule", "constant", "",
                                      "constant; heuristic: 2 longer after a full accept, else 1 shorter; "
                                      "transient: that, anew for each request"},
                                     {"threshold", "0", "probability",
                                      "a draft token of lower confidence is the round's last; 0 = none; "
                                      "transformers 5: 0.4"}}},
      .make = make_two_model};
}

}  // namespace draftscope::engine
