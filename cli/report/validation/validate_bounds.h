// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Bounds on mean errors, from the command line: KIND=PERCENT.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <span>
#include <string>
#include <vector>

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

}  // namespace draftscope::cli
