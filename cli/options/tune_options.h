// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Options of `draftscope tune`.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "options/model_options.h"
#include "options/shard_options.h"

namespace draftscope::cli {

struct TuneOptions {
  ModelOptions model;
  std::filesystem::path prompts;
  std::string search;
  std::string objective = "speedup";
  std::string score;  ///< Empty = the search's default.
  std::vector<std::string> strategies;
  std::filesystem::path output;
  std::filesystem::path probe;
  ShardOptions shard;                              ///< The part of the settings to score, without finals.
  std::vector<std::filesystem::path> from_shards;  ///< Files of shards whose trials are used.
  std::vector<std::filesystem::path> inputs;       ///< Paths that the command line names.
  std::vector<std::int32_t> exits;
  std::vector<std::int32_t> gammas;
  std::vector<double> thresholds;
  std::int32_t rungs = 3;
  std::int32_t trials = 0;
  std::int32_t max_tokens = 32;
  std::int32_t repeats = 5;
  std::int32_t finalists = 3;
  std::int32_t limit = 0;
  std::uint64_t seed = 1;
  std::string command_line;
  bool is_partial = false;  ///< True if shards may be missing.
  bool chat = false;
  bool resume = false;
  bool overwrite = false;
  bool json = false;
  bool quiet = false;

  [[nodiscard]] bool skip_set() const { return search == "skip-set"; }
  [[nodiscard]] bool teacher_forced() const { return skip_set() && score != "decoded"; }
};

void add_tune_options(CLI::App& command, TuneOptions& options);

}  // namespace draftscope::cli
