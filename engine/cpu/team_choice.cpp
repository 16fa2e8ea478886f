// SPDX-License-Identifier: GPL-3.0-or-later
#include "team_choice.h"

#include <algorithm>

namespace draftscope::engine::cpu {
namespace {

constexpr std::int32_t first_alone = 64;
constexpr std::int32_t max_alone = 1024;
constexpr double weight_of_latest = 0.25;

double share_of(std::int64_t slept_ns, std::int64_t ns) {
  return std::clamp(static_cast<double>(slept_ns) / static_cast<double>(ns), 0.0, 1.0);
}

}  // namespace

void TeamChoice::observe_team(std::int64_t ns, const TeamSleep& slept) {
  if (threads_ < 2 || ns <= 0) return;
  slept_share_ += weight_of_latest * (share_of(slept.ns, ns) - slept_share_);
  if (!is_crowded()) {
    const double share = share_of(slept.long_ns, ns);
    crowded_by_ = std::min(share, last_look_);
    last_look_ = share;
  }
  ++team_passes_;
  // Alone, the first thread would do the others' work too. That is slower, unless it slept for longer than
  // that work takes.
  const bool loses = slept_share_ > 1.0 - 1.0 / threads_;
  if (!loses) {
    if (team_passes_ > 2 * trial_passes) next_alone_ = 0;
    return;
  }
  if (team_passes_ < trial_passes) return;
  next_alone_ = next_alone_ == 0 ? first_alone : std::min(2 * next_alone_, max_alone);
  passes_alone_ = next_alone_;
  team_passes_ = 0;
  last_look_ = 0.0;  // The next trial measures it again.
  crowded_by_ = 0.0;
}

void TeamChoice::observe_alone() {
  if (passes_alone_ > 0) --passes_alone_;
}

}  // namespace draftscope::engine::cpu
