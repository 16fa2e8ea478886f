// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The questions of `draftscope simulate`: every strategy on every machine, with what the options want of each
// answer.

#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/reader.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "options/machine_options.h"
#include "report/answers/simulate_ladder.h"
#include "report/answers/simulate_text.h"
#include "report/answers/simulate_trace.h"

namespace draftscope::cli {

class SweepQuestions {
 public:
  /// All arguments outlive it.
  SweepQuestions(const SimulateOptions& options, const simulator::WhatIf& what_if,
                 const traces::Recording& recording, const std::vector<simulator::Machine>& machines);

  /// For the questions that follow; `reason`: how the texts differ.
  void ask_of_other_texts(std::string reason) { other_texts_ = std::move(reason); }

  void ask_all(const std::vector<std::string>& strategies);

  Simulation simulation;
  std::vector<AnswerLadder> ladders;
  simulator::PredictedTrace prediction;

 private:
  void ask_strategy(const std::string& strategy, const std::function<void()>& asked_one);
  void ask_on(const std::string& strategy, const simulator::Machine& machine);
  void ask(const simulator::StrategyRounds& rounds, const simulator::Machine& machine);
  void ask_fitting(const simulator::StrategyRounds& rounds, const simulator::Machine& machine);
  void add_ladder(const simulator::StrategyRounds& rounds, const simulator::Machine& machine);
  /// The comparison with the run that the answer is about, if that was recorded.
  [[nodiscard]] std::optional<simulator::MeasuredBeside> measured_beside(
      const simulator::Answer& answer, const simulator::Machine& machine) const;
  void put_circumstances(simulator::StrategyRounds& rounds) const;

  const SimulateOptions& options_;
  const simulator::WhatIf& what_if_;
  const std::vector<simulator::Machine>& machines_;
  std::vector<simulator::MeasuredSetting> measured_;
  std::optional<std::string> other_texts_;
};

}  // namespace draftscope::cli
