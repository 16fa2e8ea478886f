// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The options that every command that decodes shares: the model, the machine, the sampling.

#include <draftscope/base/result.h>
#include <draftscope/engine/backend.h>
#include <draftscope/engine/checkpoint.h>
#include <draftscope/engine/recording/device_recording.h>
#include <draftscope/engine/recording/run_identity.h>
#include <draftscope/engine/strategy.h>
#include <draftscope/engine/tokenizer.h>
#include <draftscope/profiler/device_trace.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace draftscope::cli {

struct ModelOptions {
  std::string model;
  std::string adapter;  ///< "" = none
  std::string device = "cpu";
  std::string kernels;
  std::int32_t threads = 0;
  std::int32_t context = 0;
  std::int32_t min_cache_rows = 0;  ///< of a command that holds several texts at once; no option
  std::string weights = "as-stored";
  std::string cuda_pass = "program";  ///< or "plain"
  bool check_weights = false;
};

void add_model_options(CLI::App& command, ModelOptions& options);
void add_decoding_options(CLI::App& command, engine::DecodingOptions& options);
/// How streamed text looks: --colour and --quiet.
void add_colour_options(CLI::App& command, std::string& colour, bool& quiet);

/// A checkpoint with its tokenizer. The checkpoint's address must not change while a backend reads it.
struct LoadedModel {
  std::unique_ptr<engine::Checkpoint> checkpoint;
  engine::Tokenizer tokenizer;
};

[[nodiscard]] Result<LoadedModel> load_model(const ModelOptions& options);

/// Says on stderr that the model has a chat template where prompts go without: such models answer questions
/// that are put into it, and go on with a bare text.
void hint_at_chat_template(const LoadedModel& model, bool chat, bool quiet);

/// Lets a strategy open a second model on the same device. `target` is its tokenizer's yardstick; both must
/// outlive the strategies.
[[nodiscard]] engine::StrategyResources strategy_resources(const ModelOptions& options,
                                                           const LoadedModel& target);
/// `trace`, not owned and perhaps null, hears which operations a GPU backend launches.
[[nodiscard]] Result<std::unique_ptr<engine::Backend>> make_backend(const ModelOptions& options,
                                                                    const LoadedModel& model,
                                                                    profiler::DeviceTrace* trace = nullptr);

struct ChatOptions {
  bool chat = false;   ///< prompts go into the chat template
  std::string system;  ///< system prompt; "" = none, or what the template itself puts there
};

/// `what` goes into the template: "the prompt".
void add_chat_options(CLI::App& command, ChatOptions& options, const std::string& what);

/// Fails on a system prompt without the template that it belongs into.
[[nodiscard]] Result<void> check(const ChatOptions& options);

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options);

}  // namespace draftscope::cli
