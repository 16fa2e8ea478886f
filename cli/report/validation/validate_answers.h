// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions beside measurements, for a terminal and for programs (keys: cli/OUTPUT.md). What `validate`
// and `score` share.

#include <draftscope/simulator/answers/checked_answer.h>
#include <draftscope/simulator/answers/prediction_file.h>
#include <span>
#include <string>

#include "report/report_json_parts.h"
#include "report/validation/validate_bounds.h"
#include "terminal/glyphs.h"

namespace draftscope::cli {

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
[[nodiscard]] std::string answers_csv(std::span<const simulator::CheckedAnswer> answers);

}  // namespace draftscope::cli
