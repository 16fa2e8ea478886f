// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers of the simulator for a terminal and for programs (keys: cli/OUTPUT.md).

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/answers/what_if.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "options/machine_options.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

/// A question that this recording can't answer.
struct Refusal {
  std::string strategy;
  std::string machine;  ///< Empty = independent of the machine.
  std::string reason;
};

/// Answer to a question about a part of the prompts.
struct AnswerPart {
  std::string name;  ///< A category, a prompt or a stretch.
  simulator::Answer answer;
};

struct Simulation {
  const traces::Recording* recording = nullptr;
  const simulator::CostFitReport* fit = nullptr;
  std::string by = {};  ///< "category", "prompt" or "stretch"; empty = answers are not split.
  std::vector<simulator::Answer> answers;
  std::vector<std::vector<AnswerPart>> parts;  ///< Parts [answer]; empty lists if answers are not split.
  std::vector<simulator::Scenario> scenarios;  ///< Scenario [answer].
  /// Comparison with the recorded run [answer]; absent if no such run was recorded.
  std::vector<std::optional<simulator::MeasuredBeside>> measured;
  std::vector<Refusal> refusals;
};

/// Questions without an answer, as every document lists them.
[[nodiscard]] nlohmann::ordered_json refusals_json(const std::vector<Refusal>& refusals);

/// Prints them as errors on stderr, unless the document that the options ask for lists them: JSON always
/// does, text unless it is quiet, CSV never.
void print_refusals(const SimulateOptions& options, const std::vector<Refusal>& refusals);

[[nodiscard]] std::string simulate_text(const Simulation& simulation, bool quiet, const Glyphs& glyphs);
[[nodiscard]] nlohmann::ordered_json simulate_document(const Simulation& simulation);
/// CSV with one line per answer, or per answer and part of the prompts.
[[nodiscard]] std::string simulate_csv(const Simulation& simulation);

struct AnswerLadder {
  std::string strategy;
  std::string machine;
  simulator::AnswerStatus status = simulator::AnswerStatus::exact;
  simulator::PassParts parts;
  simulator::Ladder ladder;
};

/// Correction ladder of one answer's rounds.
[[nodiscard]] Result<AnswerLadder> ladder_of(const simulator::CostModel& model,
                                             const simulator::StrategyRounds& rounds,
                                             const simulator::Machine& machine);

/// One table per answer, with a bar per rung on a terminal.
[[nodiscard]] std::string ladder_text(const std::vector<AnswerLadder>& ladders, const Glyphs& glyphs);
[[nodiscard]] std::string ladder_json(const Simulation& simulation, const std::vector<AnswerLadder>& ladders);

}  // namespace draftscope::cli
