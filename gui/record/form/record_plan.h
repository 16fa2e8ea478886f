// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording to be made, as fields of the form and as a command line of `draftscope record`.

#include <draftscope/base/result.h>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::gui {

/// Settings of a recording, with the command's defaults.
struct RecordPlan {
  std::string model;  ///< Folder, .gguf file or synthetic:NAME.
  std::string prompts;
  std::vector<std::string> strategies;  ///< Specifications as -s takes them.
  std::string output;
  std::int32_t max_tokens = 128;
  std::int32_t repeats = 3;
  std::int32_t limit = 0;   ///< First questions of the prompt file; 0 = all.
  std::int32_t warmup = 1;  ///< Unrecorded decodes before the start.
  std::string level = "phases";
  std::string device = "cpu";         ///< cpu, cuda or cuda:N.
  std::string device_trace = "auto";  ///< One of traces::record_help::device_traces.
  std::string weights = "as-stored";
  std::int32_t threads = 0;                     ///< Threads; 0 = one per core.
  std::string system;                           ///< System prompt; empty = none.
  std::vector<std::string> template_arguments;  ///< Each NAME=JSON.
  bool chat = false;
  bool skip_unfit = false;
  bool shadow = false;
  bool overwrite = false;
  std::vector<std::string> further;  ///< Words of options that have no field of their own.

  friend bool operator==(const RecordPlan&, const RecordPlan&) = default;
};

/// Inclusive bounds of a number.
struct PlanRange {
  std::int32_t min = 0;
  std::int32_t max = std::numeric_limits<std::int32_t>::max();
};
inline constexpr PlanRange positive_range{1};
inline constexpr PlanRange count_range{};
inline constexpr PlanRange thread_range{0, 1024};

/// Choices of --level.
[[nodiscard]] std::span<const std::string_view> record_levels();
/// Choices of --weights.
[[nodiscard]] std::vector<std::string> record_weights();
/// Choices of --weights that a device can hold, by its --device.
[[nodiscard]] std::vector<std::string> record_weights_on(std::string_view device);

/// Words after `draftscope`: "record", and every option that is not at its default.
[[nodiscard]] std::vector<std::string> record_arguments(const RecordPlan& plan);

/// Command line "draftscope record …" for a shell.
[[nodiscard]] std::string command_line_of(const RecordPlan& plan);

/// Plan of a command line, with or without the words before the options. Options without a field become
/// `further`. Errors: unclosed quotes, another command, an option with a missing or invalid value, a word
/// that belongs to no option.
[[nodiscard]] Result<RecordPlan> plan_of_command_line(std::string_view line);

/// Words of a line as a shell splits them, each NAME=JSON. Errors: unclosed quotes, another form.
[[nodiscard]] Result<std::vector<std::string>> template_arguments_of(std::string_view line);

/// Words of the options in one field that have no field of their own. Errors: those of
/// plan_of_command_line().
[[nodiscard]] Result<std::vector<std::string>> further_options(std::string_view line);

}  // namespace draftscope::gui
