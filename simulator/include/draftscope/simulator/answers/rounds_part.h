// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rounds of a strategy on a part of the recorded prompts: those of one category, or one prompt. A part is
// asked about like the whole (answer.h), and the parts' tokens and rounds add up to those of the whole.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <string>
#include <vector>

namespace draftscope::simulator {

enum class PartBy : std::uint8_t { category, prompt };

struct RoundsPart {
  std::string name;  ///< The category, or the question's number with its turn from the second on ("12.2").
  StrategyRounds rounds;
};

/// The parts in order of their first request; together they have every request once. `rounds` must come from
/// `what_if`, trained on `recording`.
[[nodiscard]] std::vector<RoundsPart> parts_of(const StrategyRounds& rounds, PartBy by, const WhatIf& what_if,
                                               const traces::Recording& recording);

}  // namespace draftscope::simulator
