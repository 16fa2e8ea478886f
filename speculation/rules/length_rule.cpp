// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/speculation/rules/length_rule.h>

#include <algorithm>

namespace draftscope::speculation {

std::int32_t FiniteStateLength::next(const RoundCounts& counts) {
  const bool all = counts.accepted == gamma_;
  gamma_ = std::clamp(all ? gamma_ + 1 : gamma_ - 1, options_.min, options_.max);
  return gamma_;
}

std::int32_t HeuristicLength::next(const RoundCounts& counts) {
  constexpr std::int32_t max = 63;
  const bool all = counts.accepted == counts.drafted;
  gamma_ = all ? std::min(gamma_ + 2, max) : std::max(gamma_ - 1, 1);
  return gamma_;
}

}  // namespace draftscope::speculation
