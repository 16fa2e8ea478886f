// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Every predicted figure of an answer, once, and those of a prediction that is held against a measurement. A
// figure that is measured, too (measured_figures.h), has its key, title and meaning there. Safe from any
// thread.

#include <draftscope/simulator/catalogue/figure.h>
#include <draftscope/simulator/validation/checked_answer.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <span>
#include <string_view>

namespace draftscope::simulator {

/// `draftscope simulate` and `advise`, in the order of JSON and CSV.
[[nodiscard]] std::span<const FigureOf<Answer>> answer_figures();

/// Row of answer_figures() with this key; one without title or value if there is none.
[[nodiscard]] const FigureOf<Answer>& answer_figure(std::string_view key);

/// Keys of the columns that `draftscope simulate` prints, from left to right.
[[nodiscard]] std::span<const std::string_view> answer_table();
/// Keys that a table of answers has beside those where a price or a power is given.
[[nodiscard]] std::span<const std::string_view> answer_price_table();

/// The two sides of `draftscope validate`, and what `predict` writes; what both have has one key.
[[nodiscard]] std::span<const FigureOf<PredictedDecoding>> predicted_decoding_figures();
[[nodiscard]] std::span<const FigureOf<MeasuredDecoding>> measured_decoding_figures();

}  // namespace draftscope::simulator
