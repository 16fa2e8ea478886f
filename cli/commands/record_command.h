// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/engine/recording/device_recording.h>
#include <draftscope/profiler/span_recorder.h>
#include <draftscope/speculation/model_shape.h>
#include <draftscope/traces/reader.h>
#include <draftscope/traces/writer.h>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
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
  bool skip_unfit = false;
  bool quiet = false;
  std::vector<std::filesystem::path> inputs;  ///< Named by the command line; none may be the output.
};

/// Shape and context of a model that drafts beside the target.
struct NotedModel {
  speculation::ModelShape shape;
  std::int32_t cache_rows = 0;
};
using NotedModels = std::map<std::string, NotedModel>;

/// Copy of `resources` that also notes opened models in `into`, which must outlive the result.
[[nodiscard]] engine::StrategyResources noting_models(engine::StrategyResources resources, NotedModels& into);
/// Adds the shapes, as the row of `meta` that names them; none adds nothing.
void add_shapes(const NotedModels& models, traces::Meta& meta);

/// Level that a value of --level names.
[[nodiscard]] profiler::Level level_of(const std::string& name);
/// Adds --level and --shadow.
void add_level_options(CLI::App& command, std::string& level, bool& shadow);

/// Adds all options except --strategy.
void add_recording_options(CLI::App& command, RecordOptions& options);

/// Records every strategy, interleaved prompt by prompt. Returns the exit code.
[[nodiscard]] Result<int> record(const RecordOptions& options);

}  // namespace draftscope::cli
