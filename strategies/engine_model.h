// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A chain drafted by a second model with its own K/V: another checkpoint (two-model), or the layer that the
// target's checkpoint has for it (mtp).

#include <draftscope/engine/strategy.h>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "strategies/engine_rules.h"
#include "strategies/parts/rule.h"

namespace draftscope::engine {

class DraftsWithModel final : public Strategy {
 public:
  struct Rules {
    speculation::LengthRule length;
    speculation::ThresholdRule threshold;
    Acceptance acceptance = Acceptance::by_token;
  };

  /// `join` is that of a next-token layer of a target with `target_layers`; null = a model of its own.
  DraftsWithModel(OpenedDraftModel drafter, std::int32_t target_layers, const Rules& rules)
      : drafter_(std::move(drafter)),
        model_{.backend = drafter_.backend.get(),
               .shared_tokens = drafter_.shared_tokens.get(),
               .join = drafter_.join.get()},
        length_(rules.length),
        threshold_(rules.threshold),
        acceptance_(rules.acceptance) {
    if (model_.join != nullptr) states_.push_back(target_layers);
  }

  void begin_request(const RequestView& request) override {
    // The prefill says what a next-token layer keeps.
    if (model_.join == nullptr) model_.valid = 0;
    length_.begin_request(request);
    threshold_.begin_request(request);
  }
  RoundPlan plan(const RoundView& round) override {
    round_ = round;
    return {.draft_length = length_.length(round),
            .threshold = threshold_.threshold(round),
            .acceptance = acceptance_,
            .draft_model = &model_,
            .states = states_};
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    length_.observe(round_, outcome, log);
    threshold_.observe(round_, outcome, log);
  }
  const Backend* own_backend() const override { return drafter_.backend.get(); }
  DraftModel* next_token_layer() override { return model_.join != nullptr ? &model_ : nullptr; }

 private:
  OpenedDraftModel drafter_;
  DraftModel model_;
  std::vector<std::int32_t> states_;  // boundaries whose states the layer reads
  LengthByRule length_;
  ThresholdByRule threshold_;
  Acceptance acceptance_;
  RoundView round_;
};

/// The rules of such a strategy: parameters of the parts' rules, and `acceptance`.
[[nodiscard]] inline DraftsWithModel::Rules rules_of_model(
    const speculation::StrategySpecification& specification) {
  constexpr double no_threshold = -1.0;
  return {*speculation::length_rule(specification),
          speculation::threshold_rule(specification).value_or(speculation::FixedThreshold(no_threshold)),
          specification.text("acceptance") == "block" ? Acceptance::by_block : Acceptance::by_token};
}

}  // namespace draftscope::engine
