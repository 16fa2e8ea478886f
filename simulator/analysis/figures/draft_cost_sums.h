// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/analysis/figures.h>
#include <cstdint>

namespace draftscope::simulator {

/// Times summed over the rounds of a run.
struct DraftTimes {
  std::int64_t draft_ns = 0;
  std::int64_t verify_ns = 0;
  std::int64_t other_ns = 0;    ///< accept, optimise and control
  std::int64_t between_ns = 0;  ///< from the first token to the end, in no round
};

/// From the request's first token to its end, without its rounds; 0 where there is no such moment.
[[nodiscard]] std::int64_t between_rounds_ns(const traces::Request& request, std::int64_t rounds_ns);

/// Vanilla decoding on the prompts that a run decoded too, a mean over its rounds; 0 without any.
struct BaselineStep {
  double ns = 0.0;          ///< of a round
  double between_ns = 0.0;  ///< as DraftTimes has it, for each round
};

/// draft_cost() of the sums.
[[nodiscard]] DraftCost draft_cost(const DraftTimes& times, const BaselineStep& baseline,
                                   const Acceptance& measured);

}  // namespace draftscope::simulator
