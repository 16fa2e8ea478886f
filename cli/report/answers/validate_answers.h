// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions beside measurements, for a terminal and for programs (keys: cli/OUTPUT.md).

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/checked_answer.h>

#include <span>
#include <string>
#include <vector>

#include "report/report_json.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

inline constexpr const char* bound_help =
    "KIND=PERCENT: fail where the mean error of a kind of question is above; again, length, exit, rule, "
    "strategy, task, shape, machine";

struct ErrorBound {
  simulator::QuestionKind kind = simulator::QuestionKind::recorded_again;
  double limit = 0.0;  ///< Error as a share: 0.05 is 5 %.
  double found = 0.0;

  [[nodiscard]] bool held() const { return found <= limit; }
};

/// Parses bounds. Errors: a text other than KIND=PERCENT, a repeated kind, a negative percentage.
[[nodiscard]] Result<std::vector<ErrorBound>> parse_bounds(std::span<const std::string> texts);

/// Sets `found` of each bound. Errors: a kind without an answered question.
[[nodiscard]] Result<void> check_bounds(std::vector<ErrorBound>& bounds,
                                        std::span<const simulator::KindErrors> kinds);

/// Exit code after everything was printed, or an error that names the first missed bound.
[[nodiscard]] Result<int> result_of(std::span<const ErrorBound> bounds);

/// Table with one line per question; `held_out` is the title of that column.
[[nodiscard]] std::string answers_table(std::span<const simulator::CheckedAnswer> answers,
                                        const std::string& held_out, const Glyphs& glyphs);
/// Table with one line per kind of question.
[[nodiscard]] std::string kinds_table(std::span<const simulator::KindErrors> kinds, const Glyphs& glyphs);
/// Table that says whether each bound was met; "" without bounds.
[[nodiscard]] std::string bounds_table(std::span<const ErrorBound> bounds, const Glyphs& glyphs);
/// Refusals, first differences and the basis of predictions, each line once; "" if there is none.
[[nodiscard]] std::string answer_notes(std::span<const simulator::CheckedAnswer> answers);

[[nodiscard]] Json answers_json(std::span<const simulator::CheckedAnswer> answers);
[[nodiscard]] Json kinds_json(std::span<const simulator::KindErrors> kinds);
[[nodiscard]] Json bounds_json(std::span<const ErrorBound> bounds);

}  // namespace draftscope::cli
