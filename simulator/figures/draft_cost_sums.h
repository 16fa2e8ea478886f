// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/figures/figures.h>
#include <cstdint>

namespace draftscope::simulator {

/// Times summed over the rounds of a run.
struct DraftTimes {
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t other_ns = 0;  ///< accept, optimise and control
};

/// draft_cost() of the sums; `baseline_step_ns` is 0 if there is no baseline on the same prompts.
[[nodiscard]] DraftCost draft_cost(const DraftTimes& times, double baseline_step_ns,
                                   const Acceptance& measured);

}  // namespace draftscope::simulator
