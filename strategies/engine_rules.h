// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lengths and thresholds by the rules of parts/rule.h, as parts of a mix: they observe rounds and log changes
// by a rule.

#include <fmt/format.h>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "strategies/engine_parts.h"
#include "strategies/parts/rule.h"

namespace draftscope::engine {

/// The counts of a round, without confidences.
[[nodiscard]] inline speculation::RoundCounts counts_of(const RoundOutcome& outcome) {
  return {.planned = outcome.planned,
          .drafted = static_cast<std::int32_t>(outcome.steps.size()),
          .accepted = outcome.accepted()};
}

/// Draft steps whose own token was accepted, before the first whose token was not: a sibling that was
/// accepted in its place does not count.
[[nodiscard]] inline std::int32_t accepted_steps(const RoundOutcome& outcome) {
  std::size_t steps = 0;
  while (steps < outcome.accepted_nodes.size() && steps < outcome.steps.size() &&
         outcome.nodes[static_cast<std::size_t>(outcome.accepted_nodes[steps])].token ==
             outcome.steps[steps].token)
    ++steps;
  return static_cast<std::int32_t>(steps);
}

/// A length by a rule. Logs "speculation length" when it changes.
class LengthByRule final : public LengthChoice, public Learner {
 public:
  explicit LengthByRule(const speculation::LengthRule& rule) : rule_(rule) {}
  std::int32_t length(const RoundView& /*round*/) override { return rule_.length(); }
  void begin_request(const RequestView& /*request*/) override { rule_.begin_request(); }
  void observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* log) override {
    const std::int32_t before = rule_.length();
    const std::int32_t after = rule_.next(counts_of(outcome));
    if (log == nullptr || before == after) return;
    log->add({.kind = "speculation length",
              .detail = [=] { return fmt::format(R"({{"before":{},"after":{}}})", before, after); }});
  }

 private:
  speculation::LengthRule rule_;
};

/// A draft-exit threshold by a rule. If the rule can change it, logs "threshold" after each round that
/// drafted.
class ThresholdByRule final : public ThresholdChoice, public Learner {
 public:
  explicit ThresholdByRule(const speculation::ThresholdRule& rule) : rule_(rule) {}
  double threshold(const RoundView& /*round*/) override { return rule_.threshold(); }
  void begin_request(const RequestView& /*request*/) override { rule_.begin_request(); }
  void observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* log) override {
    const double before = rule_.threshold();
    speculation::RoundCounts counts = counts_of(outcome);
    if (rule_.roc() != nullptr) {
      confidences_.clear();
      for (const DraftStep& step : outcome.steps) confidences_.push_back(step.confidence);
      counts.accepted = accepted_steps(outcome);
      counts.confidences = confidences_;
    }
    rule_.next(counts);
    if (log == nullptr || !rule_.moves() || outcome.steps.empty()) return;
    log->add({.kind = "threshold", .detail = [&] { return detail(before); }});
  }

 private:
  [[nodiscard]] std::string detail(double before) const {
    if (const speculation::RocThreshold* roc = rule_.roc())
      return fmt::format(R"({{"before":{},"after":{},"right":{},"wrong":{}}})", before, roc->threshold(),
                         roc->right(), roc->wrong());
    const speculation::AdaptiveThreshold& adaptive = *rule_.adaptive();
    return fmt::format(R"({{"before":{},"after":{},"acceptance_rate":{},"target":{}}})", before,
                       adaptive.threshold(), adaptive.acceptance_rate(), adaptive.target());
  }

  speculation::ThresholdRule rule_;
  std::vector<double> confidences_;
};

}  // namespace draftscope::engine
