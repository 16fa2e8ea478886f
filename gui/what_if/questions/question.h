// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A question of the page: a strategy on a machine. Plain choices, as its sliders have them.

#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace draftscope::gui {

enum class StrategyKind : std::uint8_t {
  recorded,      ///< a run of the recording, as it was
  fixed_length,  ///< early exit, γ draft tokens per round
  threshold,     ///< the same, but the first draft token of too low confidence is the round's last
};

using MachineFilePointer = std::shared_ptr<const simulator::MachineFile>;

struct Question {
  StrategyKind kind = StrategyKind::fixed_length;
  std::string recorded;  ///< its specification; what `kind` recorded asks about
  std::int32_t exit = 1;
  std::int32_t gamma = 4;
  double threshold = 0.6;
  bool verifies_above_exit = false;                ///< verification keeps the draft's exit states
  std::string gpu;                                 ///< by name; empty: the recorded machine
  MachineFilePointer machine_file;                 ///< in place of `gpu`
  std::string model;                               ///< by name or config.json; empty: the recorded one
  std::optional<simulator::WeightType> weights{};  ///< absent: the recorded ones
  simulator::Regime regime = simulator::Regime::as_fitted;
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;  ///< GPUs that share the model
  std::int32_t longer_context = 0;   ///< K/V rows before every pass beside the recorded ones
  std::string recorded_gpu;          ///< what the recording was made on, by name; empty: not said
  std::string host;        ///< the engine's time beside passes, by name or a JSON file; empty: usual
  std::string draft_cost;  ///< of a draft step, as on the command line; empty: its layers are priced
  std::optional<double> price_per_hour{};  ///< of the machine
};

[[nodiscard]] bool operator==(const Question& a, const Question& b);
[[nodiscard]] inline bool operator!=(const Question& a, const Question& b) {
  return !(a == b);
}

/// As on the command line.
[[nodiscard]] std::string strategy_of(const Question& question);

/// Errors: an unknown GPU or model, an unreadable config.json, a scenario that contradicts itself.
[[nodiscard]] Result<simulator::Machine> machine_of(const Question& question,
                                                    const simulator::Scenario& recorded);

/// The question of which a heat map over exits and lengths is a function: without both, and without a
/// recorded run, which is one of its points.
[[nodiscard]] Question heat_map_question(Question question);

/// Options that say which machine, model and circumstances, each with a space before it: those that
/// `simulate` and `advise` share.
[[nodiscard]] std::string machine_options_of(const Question& question);

/// Command line of draftscope simulate that answers the same.
[[nodiscard]] std::string command_line_of(const Question& question, const std::string& file);

}  // namespace draftscope::gui
