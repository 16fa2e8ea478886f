// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/thresholds.h"

#include <fmt/format.h>

namespace draftscope::engine {

void AdaptiveThreshold::begin_request(const RequestView& /*request*/) {
  accepted_ = drafted_ = 0;
  if (options_.rule == Rule::del) return;
  rate_ = 0.0;
  has_rate_ = false;
  if (!options_.carries) threshold_ = options_.start;
}

void AdaptiveThreshold::observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* log) {
  // Steps, not nodes: siblings of a tree were no drafts of their own (docs/methods.md, SWIFT).
  const auto drafted = static_cast<std::int64_t>(outcome.steps.size());
  if (drafted == 0) return;
  accepted_ += outcome.accepted();
  drafted_ += drafted;
  const double now = options_.rule == Rule::del
                         ? static_cast<double>(accepted_) / static_cast<double>(drafted_)
                         : static_cast<double>(outcome.accepted()) / static_cast<double>(drafted);
  const bool first = options_.rule == Rule::del ? rate_ == 0.0 : !has_rate_ && options_.rule == Rule::paper;
  rate_ = first ? now : options_.beta1 * rate_ + (1.0 - options_.beta1) * now;
  has_rate_ = true;
  const double before = threshold_;
  threshold_ = options_.beta2 * threshold_ + (1.0 - options_.beta2) * moved(outcome);
  if (log != nullptr)
    log->add({.kind = "threshold", .detail = [=, this] {
                return fmt::format(R"({{"before":{},"after":{},"acceptance_rate":{},"target":{}}})", before,
                                   threshold_, rate_, options_.target);
              }});
}

double AdaptiveThreshold::moved(const RoundOutcome& outcome) const {
  const bool low = options_.rule == Rule::paper ? rate_ <= options_.target : rate_ < options_.target;
  if (low) return threshold_ + options_.epsilon;
  const bool at_cap = static_cast<std::int32_t>(outcome.steps.size()) == outcome.planned;
  if (options_.rule == Rule::code && at_cap) return threshold_;
  return threshold_ - options_.epsilon;
}

}  // namespace draftscope::engine
