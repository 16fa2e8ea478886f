// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The correction ladder (tpt_ladder.h) of an answer: why a speedup counted in layers is not the predicted
// one. Modelled: as good as the cost model. Pure functions, safe from any thread.

#include <draftscope/base/result.h>
#include <draftscope/simulator/advice/answer_prices.h>
#include <draftscope/simulator/closed_forms/tpt_ladder.h>

namespace draftscope::simulator {

/// Head and choice of a pass as the cost model has them: the head is what another vocabulary of the same size
/// would add, so that a head whose time hides behind launches costs nothing; the choice is the rest of what a
/// pass takes whatever its layers (fixed_pass_ns), the head's launch included. Never more than the shortest
/// draft step of `rounds`. Errors: a scenario that contradicts itself.
[[nodiscard]] Result<PassParts> pass_parts(const CostModel& model, const StrategyRounds& rounds,
                                           const Machine& machine);

/// Of all rounds together; with the fewest draft tokens where their number is bounded. The last rung is the
/// answer's speedup. Expects rounds of the machine's shape. Errors: as correction_ladder().
[[nodiscard]] Result<Ladder> answer_ladder(const CostModel& model, const StrategyRounds& rounds,
                                           const Machine& machine);

}  // namespace draftscope::simulator
