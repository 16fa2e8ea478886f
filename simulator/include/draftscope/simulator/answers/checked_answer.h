// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Predictions beside what was measured, and how far they are off by kind of question.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/answers/sweep.h>
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

// How far a question is from what was recorded. Errors are only comparable among questions of one kind.

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

/// Kind of a setting against the recorded ones on the same prompts, model and machine: recorded_again to
/// unseen_strategy, by the recorded setting that it differs least from.
[[nodiscard]] QuestionKind kind_of_setting(const StrategySetting& asked,
                                           std::span<const StrategySetting> recorded);

// One setting's decoding figures, once as they were predicted and once as they were measured. Prefill is left
// out of both.

struct PredictedDecoding {
  AnswerStatus status = AnswerStatus::exact;
  RoundSource source = RoundSource::recorded;
  double speedup = 0.0;  ///< the middle of both ends where the answer is bounded
  double speedup_min_drafted = 0.0;
  double speedup_max_drafted = 0.0;                  ///< as the one before where the answer is not bounded
  std::optional<Interval> interval_80, interval_95;  ///< outermost of both ends
  std::string no_interval_reason;                    ///< one line; empty if there are intervals
  double vanilla_step_ns = 0.0;                      ///< mean round of vanilla decoding
  double draft_step_ns = 0.0;                        ///< 0 if no model drafts
  double verify_ns = 0.0;                            ///< mean verification of rounds that draft
  double mean_accepted_length = 0.0;                 ///< emitted tokens per round
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
};

[[nodiscard]] PredictedDecoding predicted_decoding(const Answer& answer);

struct MeasuredDecoding {
  double speedup = 0.0;           ///< from first token to end, over vanilla decoding of the same recording
  std::vector<double> by_repeat;  ///< the same from each repeat alone
  std::size_t prompts = 0;
  double vanilla_step_ns = 0.0;
  double draft_step_ns = 0.0;
  double verify_ns = 0.0;
  double mean_accepted_length = 0.0;
  double tokens_per_second = 0.0;
  double vanilla_tokens_per_second = 0.0;
};

/// `baseline` is the vanilla run of the same recording; only prompts and repeats of both count. Errors: no
/// pair of finished requests with a second token.
[[nodiscard]] Result<MeasuredDecoding> measured_decoding(const RunRows& baseline, const RunRows& run);

/// predicted / measured − 1; absent where nothing was measured or predicted (0).
[[nodiscard]] std::optional<double> relative_error(double predicted, double measured);

enum class RoundMatch : std::uint8_t {
  not_compared,  ///< other texts, or a model of acceptance instead of rounds
  exact,         ///< rounds, draft tokens, accepted and emitted tokens of every request
  bounded,       ///< the same, but that draft tokens are only known to lie between the predicted bounds
  differs,
};
/// "not compared", "exact", "bounded", "differs".
[[nodiscard]] std::string_view round_match_name(RoundMatch match);

struct RoundAgreement {
  RoundMatch match = RoundMatch::not_compared;
  std::string first_difference;  ///< "question 82 turn 0 repeat 1: 31 rounds, predicted 30"
  std::int64_t requests = 0;     ///< compared
};

/// Counts of one request's predicted rounds: with the fewest draft tokens, and with the most.
struct PredictedRequest {
  struct Counts {
    std::int64_t rounds = 0;
    std::int64_t drafted = 0;
    std::int64_t accepted = 0;  ///< before a cut at the end of the text
    std::int64_t emitted = 0;
  };
  std::string prompt_sha256;  ///< of its text
  Counts least;
  Counts most;  ///< as `least` where the draft tokens are certain
};

/// The rounds' requests with the prompts that `what_if` has them on, in their order; `recording` is what it
/// learnt from. Empty where acceptance was modelled: there are no rounds then.
[[nodiscard]] std::vector<PredictedRequest> predicted_requests(const WhatIf& what_if,
                                                               const traces::Recording& recording,
                                                               const StrategyRounds& rounds);

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

  /// Relative error of the speedup; absent without an answer.
  [[nodiscard]] std::optional<double> error() const;
  /// Whether the measured speedup is in the predicted interval; absent without one.
  [[nodiscard]] std::optional<bool> inside_80() const;
  [[nodiscard]] std::optional<bool> inside_95() const;
};

/// Means of relative errors, predicted / measured − 1.
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

// Questions whose answers a recording holds: each is asked of what is left when the answer is taken away.
//
// Within one recording: every repeat (learnt from the others), every run but vanilla (learnt from the other
// runs), every category of prompts (learnt from the other categories). Across recordings: the runs of one,
// learnt from another.

struct ValidationOptions {
  SweepOptions draws;
  std::optional<GpuSpecification> recorded_on;  ///< as WhatIfOptions
  /// Called after each thing that was held out. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress;
};

/// A question without an answer is in the result, with the reason. Errors: no vanilla run with finished
/// requests, no other run; the file can't be read. Time: a WhatIf::learn() for each thing that is held out.
[[nodiscard]] Result<std::vector<CheckedAnswer>> ask_held_out(traces::Reader& reader,
                                                              const traces::Recording& recording,
                                                              const ValidationOptions& options = {});

/// The runs of `target`, from what `learnt` tells: of the prompts that both have if `learnt` has them all
/// (then rounds are compared too), else of all its own. Errors as above, of either.
[[nodiscard]] Result<std::vector<CheckedAnswer>> ask_across(traces::Reader& reader,
                                                            const traces::Recording& learnt,
                                                            const traces::Recording& target,
                                                            const ValidationOptions& options = {});

/// Does the replay of each recorded policy give its rounds? One element a run that can be replayed, in the
/// recording's order: without shadow tokens runs of `auto` alone.
struct RunReplay {
  std::string strategy;
  ReplayCheck check;
};
[[nodiscard]] Result<std::vector<RunReplay>> check_replays(traces::Reader& reader,
                                                           const traces::Recording& recording);

}  // namespace draftscope::simulator
