// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions compared with measurements, and their errors by kind of question.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/records.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// This part classifies how far a question is from the recorded data. Errors are only comparable among
// questions of one kind.

/// Kind of a question, in order of distance. A question of several kinds counts as the farthest of them.
enum class QuestionKind : std::uint8_t {
  recorded_again,   ///< This very setting was recorded, on the same prompts.
  unseen_length,    ///< Only the speculation length differs from a recorded setting.
  unseen_exit,      ///< Only the exit layer or set of sublayers differs from a recorded setting.
  unseen_rule,      ///< Only a threshold or another parameter differs from a recorded setting.
  unseen_strategy,  ///< No run of this strategy was recorded.
  unseen_task,      ///< Other prompts.
  unseen_shape,     ///< Another model.
  unseen_machine,   ///< Another processor, GPU or number of threads.
};
inline constexpr std::size_t question_kind_count = 8;

/// "recorded run again", "unseen length", …
[[nodiscard]] std::string_view question_kind_name(QuestionKind kind);
/// "again", "length", "exit", "rule", "strategy", "task", "shape", "machine".
[[nodiscard]] std::string_view question_kind_key(QuestionKind kind);

/// A strategy with its parameters, as far as they are known.
struct StrategySetting {
  std::string strategy;
  std::map<std::string, std::string> parameters;
};

/// Parses "layerskip:exit=4,gamma=6". The result has only the parameters that are given.
[[nodiscard]] StrategySetting setting_of_specification(std::string_view specification);
/// All parameters, defaults included. If the run's parameters are no JSON object, only those of its
/// specification.
[[nodiscard]] StrategySetting setting_of_run(const traces::Run& run);

/// Kind of a setting relative to the recorded ones on the same prompts, model and machine: recorded_again to
/// unseen_strategy. The recorded setting with the fewest differences counts.
[[nodiscard]] QuestionKind kind_of_setting(const StrategySetting& asked,
                                           std::span<const StrategySetting> recorded);

// Decoding figures of one setting as measured; like predicted ones they leave out the prefill.

struct MeasuredDecoding {
  double speedup = 0.0;  ///< Speedup from first token to end, over vanilla decoding of the same recording.
  std::vector<double> by_repeat;  ///< [repeat]: speedup from each repeat separately
  std::size_t prompts = 0;
  double vanilla_step_ns = 0.0;  ///< baseline_step_ns()
  double draft_step_ns = 0.0;
  double verify_ns = 0.0;  ///< Mean over all rounds.
  double tokens_per_round = 0.0;
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
};

/// `baseline` is the vanilla run of the same recording; only prompts and repeats of both count. Errors: no
/// pair of finished requests with a second token.
[[nodiscard]] Result<MeasuredDecoding> measured_decoding(const RunRows& baseline, const RunRows& run);

/// predicted / measured − 1; absent where the measured or predicted value is 0.
[[nodiscard]] std::optional<double> relative_error(double predicted, double measured);

enum class RoundMatch : std::uint8_t {
  not_compared,  ///< The texts differ, or a model of acceptance replaces the rounds.
  exact,         ///< Rounds, draft tokens, accepted and emitted tokens of every request are equal.
  bounded,  ///< All counts are equal, except that draft tokens are only known to lie between the predicted
            ///< bounds.
  differs,
};
/// "not compared", "exact", "bounded", "differs".
[[nodiscard]] std::string_view round_match_name(RoundMatch match);

struct RoundAgreement {
  RoundMatch match = RoundMatch::not_compared;
  std::string first_difference;  ///< "question 82 turn 0 repeat 1: 31 rounds, predicted 30"
  std::int64_t requests = 0;     ///< Number of requests compared.
};

/// One question whose answer is known.
struct CheckedAnswer {
  QuestionKind kind = QuestionKind::recorded_again;
  std::string strategy;
  std::string held_out;  ///< Data that was held out from the prediction: "run", "repeat 1", a file.
  std::optional<Answer> predicted;  ///< Absent if there is no answer; see `refusal`.
  MeasuredDecoding measured;
  RoundAgreement rounds;
  std::string refusal;             ///< One line; empty if there is an answer.
  std::vector<std::string> notes;  ///< Basis of the prediction.

  /// Relative error of the speedup, predicted as PredictedRatio::middle(); absent without an answer.
  [[nodiscard]] std::optional<double> error() const;
  /// Whether the measured speedup is in the predicted interval; absent without one.
  [[nodiscard]] std::optional<bool> inside_80() const;
  [[nodiscard]] std::optional<bool> inside_95() const;
};

/// Means of relative errors, predicted / measured − 1.
struct ErrorMean {
  std::size_t count = 0;
  double mean_absolute = 0.0;
  double greatest = 0.0;  ///< Maximum magnitude.
  double bias = 0.0;      ///< Mean of the errors.
};

struct KindErrors {
  QuestionKind kind = QuestionKind::recorded_again;
  std::size_t questions = 0;
  ErrorMean speedup;  ///< Its count is the number of answered questions.
  ErrorMean vanilla_step, draft_step, verify;
  /// Relative standard deviation of the measured speedup over repeats, as root mean square over questions;
  /// absent without repeats. No prediction of a repeat can be expected to be closer.
  std::optional<double> repeat_deviation;
  std::size_t intervals = 0;  ///< Number of answers that have an interval.
  std::size_t inside_80 = 0;
  std::size_t inside_95 = 0;
  std::size_t compared_rounds = 0;  ///< Number of answers whose rounds were compared.
  std::size_t matching_rounds = 0;  ///< Number of answers whose rounds are exact or within bounds.
};

/// One element per kind that was asked, in order of kinds.
[[nodiscard]] std::vector<KindErrors> errors_by_kind(std::span<const CheckedAnswer> answers);

// Held-out questions, whose answers a recording contains. Each is asked of the data that remains after the
// answer is removed.
//
// Within one recording, they are every repeat (trained on the other repeats), every run but vanilla (trained
// on the other runs), and every category of prompts (trained on the other categories). Across recordings,
// they are the runs of one recording, trained on another.

struct ValidationOptions {
  PredictionOptions draws;
  std::optional<GpuSpecification> recorded_on;  ///< The GPU of the recording, as in WhatIfOptions.
  /// Called after each held-out part. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// Asks all held-out questions within a recording. A question without an answer is in the result, with the
/// reason. Errors: an imported recording; no vanilla run with finished requests, no other run; the file can't
/// be read. Time: one WhatIf::train() per held-out part.
[[nodiscard]] Result<std::vector<CheckedAnswer>> ask_held_out(traces::Reader& reader,
                                                              const traces::Recording& recording,
                                                              const ValidationOptions& options = {});

/// Asks about the runs of `target`, trained on `learnt`. If `learnt` has all prompts of `target`, training
/// uses these prompts only and rounds are compared too; else it uses all prompts of `learnt`. Either may be
/// imported. Other errors are those of ask_held_out(), for either recording.
[[nodiscard]] Result<std::vector<CheckedAnswer>> ask_across(traces::Reader& reader,
                                                            const traces::Recording& learnt,
                                                            const traces::Recording& target,
                                                            const ValidationOptions& options = {});

/// Whether the replay of each recorded policy gives its rounds. Returns one element per run that can be
/// replayed, in order of the recording. Without shadow tokens only runs of `auto` can.
struct RunReplay {
  std::string strategy;
  ReplayCheck check;
};
[[nodiscard]] Result<std::vector<RunReplay>> check_replays(traces::Reader& reader,
                                                           const traces::Recording& recording);

}  // namespace draftscope::simulator
