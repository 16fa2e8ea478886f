// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds of a strategy on a part of the recorded texts: prompts of one category, one prompt, or one
// stretch of all outputs (stretches.h). A part is asked about like the whole (answer.h), and the parts'
// tokens and rounds add up to those of the whole. A part of a recorded run has its own measured times
// (StrategyRounds::own_ratio). Those of a stretch are of rounds alone, as in stretches.h.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::simulator {

enum class PartBy : std::uint8_t { category, prompt, stretch };

struct RoundsPart {
  /// The category, the question's number with its turn from the second on ("12.2"), or the stretch's tokens
  /// ("64-127").
  std::string name;
  StrategyRounds rounds;
};

/// The parts in order of their first request, or of the output; together they have every round once. `rounds`
/// must come from `what_if`, trained on `recording`. Errors, of stretches alone: rounds that are not known
/// one by one (modelled, in two cases, imported, or of another context or model), and passes of the
/// strategy's own, of which only sums are known.
[[nodiscard]] Result<std::vector<RoundsPart>> parts_of(const StrategyRounds& rounds, PartBy by,
                                                       const WhatIf& what_if,
                                                       const traces::Recording& recording);

}  // namespace draftscope::simulator
