// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predicted figures: those of an answer, and those of a prediction that is compared with a measurement. A
// figure that is also measured has its key, title and meaning from measured_figures() (figure.h). All
// functions are thread-safe.

#include <draftscope/simulator/analysis/figure.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/checked_answer.h>
#include <span>
#include <string_view>

namespace draftscope::simulator {

/// Figures of `draftscope simulate` and `advise`, in order of JSON and CSV.
[[nodiscard]] std::span<const FigureOf<Answer>> answer_figures();

/// Row of answer_figures() with this key; a row without title or value if there is none.
[[nodiscard]] const FigureOf<Answer>& answer_figure(std::string_view key);

/// Keys of the columns that `draftscope simulate` prints, from left to right.
[[nodiscard]] std::span<const std::string_view> answer_table();
/// Keys that a table of answers has in addition where a price or a power is given.
[[nodiscard]] std::span<const std::string_view> answer_price_table();

/// The two sides of `draftscope validate`, and the output of `predict`; a figure of both has one key.
[[nodiscard]] std::span<const FigureOf<Answer>> predicted_decoding_figures();
[[nodiscard]] std::span<const FigureOf<MeasuredDecoding>> measured_decoding_figures();

}  // namespace draftscope::simulator
