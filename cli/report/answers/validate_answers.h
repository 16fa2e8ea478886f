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
  double limit = 0.0;  ///< a share: 0.05 is 5 %
  double found = 0.0;

  [[nodiscard]] bool held() const { return found <= limit; }
};

/// Errors: text that is no KIND=PERCENT, a kind that is given twice, a percentage that is negative.
[[nodiscard]] Result<std::vector<ErrorBound>> parse_bounds(std::span<const std::string> texts);

/// Fills in what was found. Errors: a kind of which no question was answered.
[[nodiscard]] Result<void> check_bounds(std::vector<ErrorBound>& bounds,
                                        std::span<const simulator::KindErrors> kinds);

/// The exit code after everything was printed; an error that names the first bound that was missed.
[[nodiscard]] Result<int> result_of(std::span<const ErrorBound> bounds);

/// A line a question. `held_out` is the title of that column.
[[nodiscard]] std::string answers_table(std::span<const simulator::CheckedAnswer> answers,
                                        const std::string& held_out, const Glyphs& glyphs);
/// A line a kind of question.
[[nodiscard]] std::string kinds_table(std::span<const simulator::KindErrors> kinds, const Glyphs& glyphs);
/// Whether each bound was held; "" without bounds.
[[nodiscard]] std::string bounds_table(std::span<const ErrorBound> bounds, const Glyphs& glyphs);
/// Refusals, first differences and what predictions rest on, each line once; "" if there is none.
[[nodiscard]] std::string answer_notes(std::span<const simulator::CheckedAnswer> answers);

[[nodiscard]] Json answers_json(std::span<const simulator::CheckedAnswer> answers);
[[nodiscard]] Json kinds_json(std::span<const simulator::KindErrors> kinds);
[[nodiscard]] Json bounds_json(std::span<const ErrorBound> bounds);

}  // namespace draftscope::cli
