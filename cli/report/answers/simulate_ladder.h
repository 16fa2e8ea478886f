// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// `draftscope simulate --ladder`: why the predicted speedup is not the one that layers count.

#include <draftscope/simulator/answers/answer.h>
#include <string>
#include <vector>

#include "report/answers/simulate_text.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

struct AnswerLadder {
  std::string strategy;
  std::string machine;
  simulator::AnswerStatus status = simulator::AnswerStatus::exact;
  simulator::PassParts parts;
  simulator::Ladder ladder;
};

/// Ladder of one answer's rounds.
[[nodiscard]] Result<AnswerLadder> ladder_of(const simulator::CostModel& model,
                                             const simulator::StrategyRounds& rounds,
                                             const simulator::Machine& machine);

/// A table an answer, with a bar a rung on a terminal.
[[nodiscard]] std::string ladder_text(const std::vector<AnswerLadder>& ladders, const Glyphs& glyphs);
[[nodiscard]] std::string ladder_json(const Simulation& simulation, const std::vector<AnswerLadder>& ladders);
/// One line a rung.
[[nodiscard]] std::string ladder_csv(const std::vector<AnswerLadder>& ladders);

}  // namespace draftscope::cli
