// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Settings and machines that `simulate` is asked about: those that the options name, combined with those of
// --sweep.

#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/what_if.h>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace draftscope::cli {

struct SimulateOptions {
  std::string file;
  std::vector<std::string> strategies;
  std::string recorded_gpu;
  std::vector<std::string> gpus;
  std::vector<std::string> gpu_specifications;  ///< File names.
  std::vector<std::string> calibrations;        ///< File names.
  std::string model;                            ///< A published name, a config.json or a GGUF file.
  std::string weights;
  std::string regime;
  std::string host;        ///< A name or a JSON file.
  std::string draft_cost;  ///< A share of a vanilla step, "free", "one-layer" or "mtp"; empty = priced.
  std::int32_t draft_vocabulary = 0;  ///< Vocabulary size of the draft; 0 = the target's.
  std::optional<double> price;        ///< Price of the machine per hour.
  std::optional<double> power;        ///< Power of the machine in watts.
  bool target_exits = false;          ///< True if exits count layers of the asked model.
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;
  std::int32_t longer_context = 0;
  std::optional<std::filesystem::path> prompts;  ///< Prompts that are asked about; none = the recorded ones.
  std::vector<std::string> sweeps;               ///< Sweeps as key=value,… or key=first..last.
  simulator::PredictionOptions draws;            ///< Draws that the intervals come from.
  std::optional<std::filesystem::path> output;   ///< File for a prediction; none = not written.
  std::string command_line;                      ///< Command line that a prediction names.
  std::optional<std::string> write;              ///< File for a trace of the answers; none = not written.
  std::vector<std::filesystem::path> inputs;     ///< Paths that the command line names.
  bool overwrite = false;
  /// "category", "prompt" or "stretch": also answers of each part of the texts; empty = none.
  std::string by;
  bool budget = false;
  bool ladder = false;
  bool waterfall = false;
  bool json = false;
  bool csv = false;
  bool quiet = false;
};

/// Adds --draws and --seed.
void add_draw_options(CLI::App& command, simulator::PredictionOptions& draws);

/// Adds the options for machine, model, prompts and sweeps: everything in a question except --strategy.
void add_machine_options(CLI::App& command, SimulateOptions& options);

/// Every strategy with every combination of the swept parameters that it has; unchanged without such sweeps.
/// Errors name the sweep: no strategy has the parameter, or one sets it itself.
[[nodiscard]] Result<std::vector<std::string>> swept_strategies(const SimulateOptions& options);

/// The recorded machine, or the one in the options, with every combination of the swept keys of a machine
/// (gpu, model, weights, regime, host, batch, tensor-parallel). Errors name the option.
[[nodiscard]] Result<std::vector<simulator::Machine>> swept_machines(const SimulateOptions& options,
                                                                     const simulator::Scenario& recorded);

}  // namespace draftscope::cli
