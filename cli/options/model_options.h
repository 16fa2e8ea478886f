// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Options shared by all commands that decode: the model, the machine, the sampling.

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
  std::string adapter;  ///< Folder of the adapter; "" = none.
  std::string device = "cpu";
  std::string kernels;
  std::int32_t threads = 0;
  std::int32_t context = 0;
  std::int32_t min_cache_rows = 0;  ///< Set by a command that caches several texts at once; not an option.
  std::string weights = "as-stored";
  std::string cuda_pass = "program";  ///< Value "program" or "plain".
  bool check_weights = false;
  std::vector<std::string> template_arguments;  ///< Each NAME=JSON.
};

void add_model_options(CLI::App& command, ModelOptions& options);
void add_decoding_options(CLI::App& command, engine::DecodingOptions& options);
/// Refuses the options of sampling that greedy decoding reads nothing of, for a command whose command line
/// alone sets the temperature.
void refuse_unread_sampling(CLI::App& command);
/// Adds --colour and --quiet, which set the look of streamed text.
void add_colour_options(CLI::App& command, std::string& colour, bool& quiet);

/// A checkpoint with its tokenizer. The checkpoint's address must not change while a backend reads it.
struct LoadedModel {
  std::unique_ptr<engine::Checkpoint> checkpoint;
  engine::Tokenizer tokenizer;
};

[[nodiscard]] Result<LoadedModel> load_model(const ModelOptions& options);

/// Prints a hint on stderr if the model has a chat template that the prompts do not use. Such models answer
/// questions in the template, and merely continue a bare text.
void hint_at_chat_template(const LoadedModel& model, bool chat, bool quiet);

/// Lets a strategy open a second model on the same device, whose tokens must match those of `target`. Both
/// arguments must outlive the strategies.
[[nodiscard]] engine::StrategyResources strategy_resources(const ModelOptions& options,
                                                           const LoadedModel& target);
/// A GPU backend reports the operations that it launches to `trace`, which is not owned and may be null.
[[nodiscard]] Result<std::unique_ptr<engine::Backend>> make_backend(const ModelOptions& options,
                                                                    const LoadedModel& model,
                                                                    profiler::DeviceTrace* trace = nullptr);

struct ChatOptions {
  bool chat = false;   ///< True if prompts go into the chat template.
  std::string system;  ///< System prompt; "" = none, or the template's default.
};

/// `what` names the text that goes into the template: "the prompt".
void add_chat_options(CLI::App& command, ChatOptions& options, const std::string& what);

/// Adds --template-arg, for commands that render a chat template; load_model() sets the variables.
void add_template_arguments(CLI::App& command, ModelOptions& options);

/// Fails if there is a system prompt or a variable of the template, but no template for it.
[[nodiscard]] Result<void> check(const ChatOptions& options, const ModelOptions& model);

void add_device_trace_options(CLI::App& command, engine::DeviceTraceOptions& options);

}  // namespace draftscope::cli
