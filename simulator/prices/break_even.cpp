// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/closed_forms.h>

#include <algorithm>

namespace draftscope::simulator {

namespace {

double round_cost(const RoundCost& cost, double steps) {
  return steps * cost.c + cost.v + cost.o;
}

}  // namespace

Result<BreakEven> break_even(const RoundCost& cost, std::optional<std::int32_t> gamma) {
  DRAFTSCOPE_TRY(round_speedup(1.0, cost));
  if (!(cost.steps_per_round > 0.0))
    return fail("draft steps per round: found {}, expected above 0", cost.steps_per_round);
  BreakEven result;
  result.mean_accepted_length = round_cost(cost, cost.steps_per_round);
  result.acceptance_rate = std::max(result.mean_accepted_length - 1.0, 0.0) / cost.steps_per_round;
  if (!gamma) return result;
  if (*gamma < 1) return fail("speculation length: found {}, expected at least 1", *gamma);
  const double needed = round_cost(cost, *gamma);
  if (needed > *gamma + 1.0) return result;
  DRAFTSCOPE_TRY_ASSIGN(result.alpha, iid_acceptance_rate(std::max(needed, 1.0), *gamma));
  return result;
}

}  // namespace draftscope::simulator
