// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/recording/device_recording.h>
#include <draftscope/traces/reader.h>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "options/model_options.h"
#include "options/shard_options.h"
#include "terminal/messages.h"

namespace draftscope::cli {

struct RecordOptions {
  ModelOptions model;
  engine::DecodingOptions decoding;
  engine::DeviceTraceOptions device_trace;
  std::filesystem::path prompts;
  std::vector<std::string> strategies;
  std::filesystem::path output;
  std::string level = "phases";
  std::string command_line;
  std::int32_t repeats = 3;
  std::int32_t warmup = 1;
  std::int32_t limit = 0;
  ShardOptions shard;  ///< The part of the prompts to record, into a separate file.
  ChatOptions chat;
  bool overwrite = false;
  bool shadow = false;
  bool quiet = false;
  std::vector<std::filesystem::path> inputs;  ///< Named by the command line; none may be the output.
};

/// Adds all options except --strategy.
void add_recording_options(CLI::App& command, RecordOptions& options);

/// Records every strategy, interleaved prompt by prompt. Returns the exit code.
[[nodiscard]] Result<int> record(const RecordOptions& options);

}  // namespace draftscope::cli
