// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Settings and machines that `simulate` is asked about: what the options name, times what --sweep varies.

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
  std::vector<std::string> gpu_specifications;  ///< files
  std::vector<std::string> calibrations;        ///< files
  std::string model;                            ///< a published name or a config.json
  std::string weights;
  std::string regime;
  std::string host;                   ///< a name or a JSON file
  std::string draft_cost;             ///< a share of a vanilla step, "free" or "one-layer"; empty: priced
  std::int32_t draft_vocabulary = 0;  ///< 0: the target's
  std::optional<double> price;        ///< of the machine, per hour
  std::optional<double> power;        ///< of the machine, watts
  bool target_exits = false;          ///< exits count the layers of the model asked about
  std::int32_t batch = 1;
  std::int32_t tensor_parallel = 1;
  std::int32_t longer_context = 0;
  std::optional<std::filesystem::path> prompts;  ///< that are asked about; none: the recorded ones
  std::vector<std::string> sweeps;               ///< key=value,… or key=first..last
  std::int32_t draws = 1000;
  std::uint64_t seed = 20240301;
  std::optional<std::filesystem::path> output;  ///< a prediction of the answers; none = not to be written
  std::string command_line;                     ///< Command line that a prediction names.
  std::optional<std::string> write;             ///< a trace of the answers; none = not to be written
  std::vector<std::filesystem::path> inputs;    ///< that the command line names
  bool overwrite = false;
  bool budget = false;
  bool ladder = false;
  bool waterfall = false;
  bool json = false;
  bool csv = false;
  bool quiet = false;
};

/// The options that say which machine, model and prompts, and what is swept: all that names a question but
/// --strategy.
void add_machine_options(CLI::App& command, SimulateOptions& options);

/// Every strategy with every combination of the swept parameters that are a strategy's (exit, gamma,
/// threshold); unchanged without such.
[[nodiscard]] Result<std::vector<std::string>> swept_strategies(const SimulateOptions& options);

/// The recorded machine (or what the options say instead) and every combination of the swept keys that are a
/// machine's (gpu, model, weights, regime, host, batch, tensor-parallel, link). Errors name the option.
[[nodiscard]] Result<std::vector<simulator::Machine>> swept_machines(const SimulateOptions& options,
                                                                     const simulator::Scenario& recorded);

}  // namespace draftscope::cli
