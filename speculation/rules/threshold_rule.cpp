// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/rules/threshold_rule.h>

namespace draftscope::speculation {

void AdaptiveThreshold::begin_request() {
  accepted_ = drafted_ = 0;
  if (options_.rule == Rule::del) return;
  rate_ = 0.0;
  has_rate_ = false;
  if (!options_.carries) threshold_ = options_.start;
}

double AdaptiveThreshold::next(const RoundCounts& counts) {
  if (counts.drafted == 0) return threshold_;
  accepted_ += counts.accepted;
  drafted_ += counts.drafted;
  const double now = options_.rule == Rule::del
                         ? static_cast<double>(accepted_) / static_cast<double>(drafted_)
                         : static_cast<double>(counts.accepted) / static_cast<double>(counts.drafted);
  const bool is_first =
      options_.rule == Rule::del ? rate_ == 0.0 : !has_rate_ && options_.rule == Rule::paper;
  rate_ = is_first ? now : options_.beta1 * rate_ + (1.0 - options_.beta1) * now;
  has_rate_ = true;
  threshold_ = options_.beta2 * threshold_ + (1.0 - options_.beta2) * moved(counts);
  return threshold_;
}

double AdaptiveThreshold::moved(const RoundCounts& counts) const {
  const bool is_low = options_.rule == Rule::paper ? rate_ <= options_.target : rate_ < options_.target;
  if (is_low) return threshold_ + options_.epsilon;
  if (options_.rule == Rule::code && counts.drafted == counts.planned) return threshold_;
  return threshold_ - options_.epsilon;
}

}  // namespace draftscope::speculation
