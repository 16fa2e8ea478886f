// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lengths and thresholds by the rules of draftscope/speculation/rules/, as parts of a mix: they hear of
// rounds and log what a rule changed.

#include <draftscope/speculation/rules/length_rule.h>
#include <draftscope/speculation/rules/threshold_rule.h>
#include <fmt/format.h>
#include <cstdint>
#include <utility>

#include "strategies/parts.h"

namespace draftscope::engine {

[[nodiscard]] inline speculation::RoundCounts counts_of(const RoundOutcome& outcome) {
  return {.planned = outcome.planned,
          .drafted = static_cast<std::int32_t>(outcome.steps.size()),
          .accepted = outcome.accepted()};
}

/// A length by a rule. Logs "speculation length" when it moved.
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

/// A draft-exit threshold by a rule. An adaptive one logs "threshold" after each round that drafted.
class ThresholdByRule final : public ThresholdChoice, public Learner {
 public:
  explicit ThresholdByRule(const speculation::ThresholdRule& rule) : rule_(rule) {}
  double threshold(const RoundView& /*round*/) override { return rule_.threshold(); }
  void begin_request(const RequestView& /*request*/) override { rule_.begin_request(); }
  void observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* log) override {
    const double before = rule_.threshold();
    rule_.next(counts_of(outcome));
    const speculation::AdaptiveThreshold* adaptive = rule_.adaptive();
    if (log == nullptr || adaptive == nullptr || outcome.steps.empty()) return;
    log->add({.kind = "threshold", .detail = [=] {
                return fmt::format(R"({{"before":{},"after":{},"acceptance_rate":{},"target":{}}})", before,
                                   adaptive->threshold(), adaptive->acceptance_rate(), adaptive->target());
              }});
  }

 private:
  speculation::ThresholdRule rule_;
};

}  // namespace draftscope::engine
