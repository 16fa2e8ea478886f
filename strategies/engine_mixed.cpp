// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <utility>

#include "strategies/engine_parts.h"

namespace draftscope::engine {

namespace {

class Mixed final : public Strategy {
 public:
  explicit Mixed(Parts parts) : parts_(std::move(parts)) {}

  std::vector<speculation::WeightFormat> draft_weights(const BackendDescription& /*target*/) override {
    if (!parts_.weights) return {};
    return {*parts_.weights};
  }

  void begin_request(const RequestView& request) override {
    for (const auto& learner : parts_.learners) learner->begin_request(request);
  }

  RoundPlan plan(const RoundView& round) override {
    round_ = round;
    RoundPlan plan;
    plan.mask = parts_.mask->mask(round);
    plan.origin = parts_.mask->origin();
    collect_states();
    plan.states = states_;
    plan.keeps_states = true;
    plan.branches = parts_.branches;
    plan.verification = parts_.verification;
    plan.acceptance = parts_.acceptance;
    plan.weights = parts_.weights;
    if (plan.mask == nullptr) return plan;
    plan.draft_length = parts_.length->length(round);
    plan.entropy_weight = parts_.entropy_weight;
    if (parts_.threshold != nullptr) plan.threshold = parts_.threshold->threshold(round);
    return plan;
  }

  void observe(const RoundOutcome& outcome, DecisionLog* log) override {
    RoundOutcome own = outcome;
    for (const auto& learner : parts_.learners) {
      own.states = states_of(learner->states(), outcome.states);
      learner->observe(round_, own, log);
    }
  }

  bool wants_to_optimise() const override {
    return std::any_of(parts_.learners.begin(), parts_.learners.end(),
                       [](const auto& learner) { return learner->wants_to_optimise(); });
  }

  Result<void> optimise(const RoundView& view, Probe& probe, DecisionLog* log) override {
    for (const auto& learner : parts_.learners)
      if (learner->wants_to_optimise()) DRAFTSCOPE_TRY(learner->optimise(view, probe, log));
    return {};
  }

 private:
  void collect_states() {
    states_.clear();
    for (const auto& learner : parts_.learners)
      for (const std::int32_t boundary : learner->states()) states_.push_back(boundary);
    std::sort(states_.begin(), states_.end());
    states_.erase(std::unique(states_.begin(), states_.end()), states_.end());
  }

  /// One learner's states, out of those that all learners requested.
  [[nodiscard]] std::span<const float> states_of(std::span<const std::int32_t> boundaries,
                                                 std::span<const float> states) {
    if (boundaries.empty() || states.empty()) return {};
    const std::size_t width = states.size() / states_.size();
    const auto place_of = [&](std::int32_t boundary) {
      const auto found = std::lower_bound(states_.begin(), states_.end(), boundary);
      return static_cast<std::size_t>(found - states_.begin());
    };
    const std::size_t first = place_of(boundaries.front());
    if (place_of(boundaries.back()) - first + 1 == boundaries.size())
      return states.subspan(first * width, boundaries.size() * width);
    gathered_.clear();
    for (const std::int32_t boundary : boundaries) {
      const auto own = states.subspan(place_of(boundary) * width, width);
      gathered_.insert(gathered_.end(), own.begin(), own.end());
    }
    return gathered_;
  }

  Parts parts_;
  std::vector<std::int32_t> states_;  // states requested from the planned round
  std::vector<float> gathered_;       // states of one learner, where another requested some in between
  RoundView round_;                   // the round that was planned last, with the text at that moment
};

}  // namespace

std::unique_ptr<Strategy> make_mixed(Parts parts) {
  return std::make_unique<Mixed>(std::move(parts));
}

}  // namespace draftscope::engine
