// SPDX-License-Identifier: GPL-3.0-or-later
#include "commands/simulate/sweep_questions.h"

#include <cstdint>
#include <utility>

#include "terminal/progress_bar.h"

namespace draftscope::cli {

SweepQuestions::SweepQuestions(const SimulateOptions& options, const simulator::WhatIf& what_if,
                               const traces::Recording& recording,
                               const std::vector<simulator::Machine>& machines)
    : simulation{.recording = &recording, .fit = &what_if.costs().report},
      prediction{.machine = machines.front(), .runs = {}, .meta = {}},
      options_(options),
      what_if_(what_if),
      machines_(machines),
      measured_(simulator::measured_settings(recording)) {}

void SweepQuestions::ask_all(const std::vector<std::string>& strategies) {
  ProgressBar progress("simulating", options_.quiet);
  const auto all = static_cast<std::int64_t>(strategies.size() * machines_.size());
  std::int64_t done = 0;
  for (const std::string& strategy : strategies)
    ask_strategy(strategy, [&] { progress.update(++done, all); });
}

/// Asks the strategy on every machine; calls `asked_one` after each.
void SweepQuestions::ask_strategy(const std::string& strategy, const std::function<void()>& asked_one) {
  if (options_.target_exits || simulator::goes_by_times(strategy)) {
    for (const simulator::Machine& machine : machines_) {
      ask_on(strategy, machine);
      asked_one();
    }
    return;
  }
  auto rounds = what_if_.rounds(strategy);
  if (!rounds) return simulation.refusals.push_back({strategy, "", rounds.error().message});
  put_circumstances(*rounds);
  for (const simulator::Machine& machine : machines_) {
    ask(*rounds, machine);
    asked_one();
  }
}

/// Rounds that are this machine's own.
void SweepQuestions::ask_on(const std::string& strategy, const simulator::Machine& machine) {
  const bool by_times = simulator::goes_by_times(strategy);
  auto rounds = by_times ? what_if_.rounds(strategy, machine)
                         : simulator::rounds_at_target_exit(what_if_, strategy, machine.scenario.shape);
  if (!rounds) return simulation.refusals.push_back({strategy, machine.name, rounds.error().message});
  put_circumstances(*rounds);
  if (by_times)
    ask(*rounds, machine);
  else
    ask_fitting(*rounds, machine);
}

void SweepQuestions::ask(const simulator::StrategyRounds& rounds, const simulator::Machine& machine) {
  ask_fitting(simulator::for_shape(rounds, what_if_.recorded_scenario().shape, machine.scenario.shape),
              machine);
}

/// Rounds of the machine's model.
void SweepQuestions::ask_fitting(const simulator::StrategyRounds& rounds, const simulator::Machine& machine) {
  auto answer = simulator::ask(what_if_.costs().model, rounds, machine,
                               {.draws = options_.draws, .seed = options_.seed}, options_.budget);
  if (!answer) return simulation.refusals.push_back({rounds.strategy, machine.name, answer.error().message});
  if (options_.write) prediction.runs.push_back({rounds, *answer});
  if (options_.ladder) add_ladder(rounds, machine);
  simulation.measured.push_back(measured_beside(*answer, machine));
  simulation.answers.push_back(*std::move(answer));
  simulation.scenarios.push_back(machine.scenario);
}

std::optional<simulator::MeasuredBeside> SweepQuestions::measured_beside(
    const simulator::Answer& answer, const simulator::Machine& machine) const {
  const bool is_as_recorded = !other_texts_ && options_.longer_context == 0 &&
                              simulator::is_recorded_machine(machine, what_if_.recorded_scenario());
  const auto* run = is_as_recorded ? simulator::measured_setting_of(answer, measured_) : nullptr;
  if (run == nullptr) return std::nullopt;
  return simulator::measured_beside(answer, *run, *simulation.fit, simulation.recording->meta);
}

void SweepQuestions::add_ladder(const simulator::StrategyRounds& rounds, const simulator::Machine& machine) {
  auto ladder = ladder_of(what_if_.costs().model, rounds, machine);
  if (ladder)
    ladders.push_back(*std::move(ladder));
  else
    simulation.refusals.push_back({rounds.strategy, machine.name, ladder.error().message});
}

void SweepQuestions::put_circumstances(simulator::StrategyRounds& rounds) const {
  if (other_texts_) simulator::ask_of_other_texts(rounds, *other_texts_);
  if (options_.longer_context > 0) simulator::lengthen_context(rounds, options_.longer_context);
}

}  // namespace draftscope::cli
