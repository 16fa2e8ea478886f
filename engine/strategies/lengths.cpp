// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/lengths.h"

#include <algorithm>

#include "strategies/decisions.h"

namespace draftscope::engine {

void FiniteStateLength::observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* log) {
  const std::int32_t before = gamma_;
  const bool all = outcome.accepted() == gamma_;
  gamma_ = std::clamp(all ? gamma_ + 1 : gamma_ - 1, options_.least, options_.most);
  log_change(log, "speculation length", before, gamma_);
}

void HeuristicLength::observe(const RoundView& /*round*/, const RoundOutcome& outcome, DecisionLog* log) {
  const std::int32_t before = gamma_;
  const bool all = outcome.accepted() == static_cast<std::int32_t>(outcome.steps.size());
  gamma_ = all ? std::min(gamma_ + 2, most) : std::max(gamma_ - 1, 1);
  log_change(log, "speculation length", before, gamma_);
}

}  // namespace draftscope::engine
