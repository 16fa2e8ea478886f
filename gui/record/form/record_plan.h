// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A recording to be made, as the form has it and as the command line of `draftscope record` spells it.

#include <draftscope/base/result.h>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::gui {

/// The defaults are the command's.
struct RecordPlan {
  std::string model;  ///< folder, .gguf file or synthetic:NAME
  std::string prompts;
  std::vector<std::string> strategies;  ///< as -s takes them
  std::string output;
  std::int32_t max_tokens = 128;
  std::int32_t repeats = 3;
  std::int32_t limit = 0;   ///< first questions of the prompt file; 0 = all
  std::int32_t warmup = 1;  ///< unrecorded decodes before the start
  std::string level = "phases";
  std::string weights = "as-stored";
  std::int32_t threads = 0;  ///< 0 = one a core
  std::string system;        ///< system prompt; empty = none
  bool chat = false;
  bool shadow = false;
  bool overwrite = false;
  std::vector<std::string> further;  ///< words of options that have no field of their own

  friend bool operator==(const RecordPlan&, const RecordPlan&) = default;
};

/// Inclusive bounds of the numbers.
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

/// Words after `draftscope`: "record", and every option that is not at its default.
[[nodiscard]] std::vector<std::string> record_arguments(const RecordPlan& plan);

/// "draftscope record …" for a shell.
[[nodiscard]] std::string command_line_of(const RecordPlan& plan);

/// The plan that a command line asks for, with or without the words in front of the options. Options without
/// a field become `further`. Errors: quotes without an end, another command, an option without its value or
/// with one that it does not take, a word that belongs to no option.
[[nodiscard]] Result<RecordPlan> plan_of_command_line(std::string_view line);

/// The same of one field's words: those of options without a field of their own.
[[nodiscard]] Result<std::vector<std::string>> further_options(std::string_view line);

}  // namespace draftscope::gui
