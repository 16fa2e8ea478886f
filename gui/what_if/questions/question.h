// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A question of the what-if page: a strategy on a machine, as plain values of its controls.

#include <draftscope/simulator/answers/advice.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/asked_machine.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace draftscope::gui {

enum class StrategyKind : std::uint8_t {
  recorded,      ///< A run of the recording, as it was.
  fixed_length,  ///< Early exit with γ draft tokens per round.
  threshold,     ///< Early exit whose draft ends after the first token of too low confidence.
};

using MachineFilePointer = std::shared_ptr<const simulator::MachineFile>;

struct Question {
  StrategyKind kind = StrategyKind::fixed_length;
  std::string recorded;  ///< Specification of the recorded run, for `kind` recorded.
  std::int32_t exit = 1;
  std::int32_t gamma = 4;
  double threshold = 0.6;
  bool verifies_above_exit = false;                ///< Verification reuses the draft's exit states.
  std::string gpu;                                 ///< Name; empty = the recorded machine.
  MachineFilePointer machine_file;                 ///< Replaces `gpu`.
  std::string model;                               ///< Name or config.json; empty = the recorded model.
  std::optional<simulator::WeightType> weights{};  ///< Absent = the recorded weights.
  simulator::Regime regime = simulator::Regime::as_fitted;
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;  ///< Number of GPUs that share the model.
  std::int32_t longer_context = 0;   ///< K/V rows before every pass, in addition to the recorded ones.
  std::string recorded_gpu;          ///< Name of the GPU that the recording was made on; empty = not stated.
  std::string host;                  ///< Engine time outside passes, by name or a JSON file; empty = default.
  std::string draft_cost;  ///< Cost of a draft step, as on the command line; empty = the sum over its layers.

  friend bool operator==(const Question&, const Question&) = default;
};

/// Specification as on the command line.
[[nodiscard]] std::string strategy_of(const Question& question);

/// Errors: an unknown GPU or model, an unreadable config.json, a scenario that contradicts itself.
[[nodiscard]] Result<simulator::Machine> machine_of(const Question& question,
                                                    const simulator::Scenario& recorded);

/// The question without exit and length, which are the axes of its heat map, and without a recorded run,
/// which is one of the points.
[[nodiscard]] Question heat_map_question(Question question);

/// Options of the machine, model and circumstances, each with a space before it: the options that `simulate`
/// and `advise` share.
[[nodiscard]] std::string machine_options_of(const Question& question);

/// Command line of draftscope simulate that gives the same answer.
[[nodiscard]] std::string command_line_of(const Question& question, const std::string& file);

/// The machine that words like "rtx 4090 llama3 8b fp8" name: the GPU, the model and the number type of the
/// weights that words name, in any order, with any case and punctuation; parts of a name suffice ("4090"), of
/// which the shortest name with them is meant. None if a word belongs to no name, or if neither a GPU nor a
/// model is named.
[[nodiscard]] std::optional<Question> named_question(std::string_view words);

/// "Llama-3-8B on RTX 4090, fp8", with what the question names of it.
[[nodiscard]] std::string machine_words(const Question& question);

}  // namespace draftscope::gui
