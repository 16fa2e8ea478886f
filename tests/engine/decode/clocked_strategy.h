// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A strategy that hears of times by a rule of their own instead of the machine's clock, so that one that
// decides by times decides the same in every run.

#include <draftscope/engine/strategy.h>

#include <utility>

namespace draftscope::engine {

class ClockedStrategy final : public Strategy {
 public:
  explicit ClockedStrategy(std::unique_ptr<Strategy> inner) : inner_(std::move(inner)) {}

  std::vector<speculation::WeightFormat> draft_weights(const BackendDescription& target) override {
    return inner_->draft_weights(target);
  }
  void begin_request(const RequestView& request) override { inner_->begin_request(request); }
  RoundPlan plan(const RoundView& round) override {
    RoundView own = round;
    own.now_ns = now_ns_;
    RoundPlan plan = inner_->plan(own);
    ++(plan.mask != nullptr ? drafted : plan.proposals.empty() ? plain : guessed);
    return plan;
  }
  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    RoundOutcome own = outcome;
    own.draft_ns = step_ns * static_cast<std::int64_t>(outcome.steps.size());
    own.elapsed_ns = own.draft_ns + vanilla_ns + row_ns * outcome.drafted();
    now_ns_ += own.elapsed_ns;
    inner_->observe(own, log);
  }

  std::int64_t vanilla_ns = 1'000'000;
  std::int64_t row_ns = 10'000;    ///< time of each row beyond the first
  std::int64_t step_ns = 100'000;  ///< time of a draft step
  // Rounds by what drafted.
  int drafted = 0;
  int guessed = 0;
  int plain = 0;

 private:
  std::unique_ptr<Strategy> inner_;
  std::int64_t now_ns_ = 0;
};

}  // namespace draftscope::engine
