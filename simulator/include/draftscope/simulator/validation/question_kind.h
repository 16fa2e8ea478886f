// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How far a question is from what was recorded. Errors are only comparable among questions of one kind.

#include <draftscope/base/result.h>
#include <draftscope/traces/records.h>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::simulator {

/// In order of distance: a question that is of several kinds is of the farthest.
enum class QuestionKind : std::uint8_t {
  recorded_again,   ///< this very setting was recorded, on the same prompts
  unseen_length,    ///< it was, but for the speculation length
  unseen_exit,      ///< it was, but for the exit layer or set of sublayers
  unseen_rule,      ///< it was, but for a threshold or another parameter
  unseen_strategy,  ///< no run of this strategy was recorded
  unseen_task,      ///< other prompts
  unseen_shape,     ///< another model
  unseen_machine,   ///< another processor, GPU or number of threads
};
inline constexpr std::size_t question_kind_count = 8;

/// "recorded run again", "unseen length", …
[[nodiscard]] std::string_view question_kind_name(QuestionKind kind);
/// "again", "length", "exit", "rule", "strategy", "task", "shape", "machine".
[[nodiscard]] std::string_view question_kind_key(QuestionKind kind);
/// From its key. Errors: an unknown one, with the known ones.
[[nodiscard]] Result<QuestionKind> parse_question_kind(std::string_view key);

/// A strategy with its parameters, as far as they are known.
struct StrategySetting {
  std::string strategy;
  std::map<std::string, std::string> parameters;
};

/// "layerskip:exit=4,gamma=6": only what is spelled out.
[[nodiscard]] StrategySetting setting_of_specification(std::string_view specification);
/// With every parameter, defaults included; what the specification spells out where the run's parameters are
/// no JSON object.
[[nodiscard]] StrategySetting setting_of_run(const traces::Run& run);

/// Of a setting against the recorded ones on the same prompts, model and machine: recorded_again to
/// unseen_strategy, by the recorded setting that it differs least from.
[[nodiscard]] QuestionKind kind_of_setting(const StrategySetting& asked,
                                           std::span<const StrategySetting> recorded);

}  // namespace draftscope::simulator
