// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions beside what was measured, and how far they are off by kind of question.

#include <draftscope/simulator/validation/decoding_figures.h>
#include <draftscope/simulator/validation/question_kind.h>
#include <draftscope/simulator/validation/round_agreement.h>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

/// One question whose answer is known.
struct CheckedAnswer {
  QuestionKind kind = QuestionKind::recorded_again;
  std::string strategy;
  std::string held_out;                        ///< what the prediction never saw: "run", "repeat 1", a file
  std::optional<PredictedDecoding> predicted;  ///< absent: there is no answer, see `refusal`
  MeasuredDecoding measured;
  RoundAgreement rounds;
  std::string refusal;             ///< one line; empty if there is an answer
  std::vector<std::string> notes;  ///< what the prediction rests on

  /// Of the speedup; absent without an answer.
  [[nodiscard]] std::optional<double> error() const;
  /// Whether the measured speedup is in the predicted interval; absent without one.
  [[nodiscard]] std::optional<bool> inside_80() const;
  [[nodiscard]] std::optional<bool> inside_95() const;
};

/// Of relative errors, predicted / measured − 1.
struct ErrorMean {
  std::size_t count = 0;
  double mean_absolute = 0.0;
  double greatest = 0.0;  ///< magnitude
  double bias = 0.0;      ///< their mean
};
[[nodiscard]] ErrorMean error_mean(std::span<const double> errors);

struct KindErrors {
  QuestionKind kind = QuestionKind::recorded_again;
  std::size_t questions = 0;
  ErrorMean speedup;  ///< its count: how many were answered
  ErrorMean vanilla_step, draft_step, verify;
  /// How far one repeat's measured speedup is from another's: the standard deviation over repeats, relative,
  /// root mean square over questions; absent where nothing was repeated. No prediction of a repeat can be
  /// expected to be closer.
  std::optional<double> repeat_deviation;
  std::size_t intervals = 0;  ///< answers that have one
  std::size_t inside_80 = 0;
  std::size_t inside_95 = 0;
  std::size_t compared_rounds = 0;  ///< answers whose rounds were compared
  std::size_t matching_rounds = 0;  ///< exact or within bounds
};

/// One element a kind that was asked, in the order of kinds.
[[nodiscard]] std::vector<KindErrors> errors_by_kind(std::span<const CheckedAnswer> answers);

}  // namespace draftscope::simulator
