// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Advice on the best setting for a machine: which strategy, or none, its gain, its uncertainty, and what the
// answer depends on. Everything is predicted from a recording (what_if.h) and is as good as its cost model.
//
// The fastest of hundreds of candidates looks faster than it is, because selection also favours luck. So the
// choice is repeated without the prompts of each fold and judged on them (cross-validation; Stone 1974), with
// the cost model's uncertainty in the interval. Where the number of draft tokens is bounded, candidates
// compete with the slower bound.
//
// Safe from any thread; the same options give the same bits.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/measured_beside.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/recording_waterfall.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <draftscope/speculation/policy_file.h>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// Candidates of an advice: early exits at every layer with fixed lengths and with confidence thresholds (only
// recorded exits without shadow tokens), prompt lookup with several lengths, and suffix decoding. The
// recorded runs take part with any drafter, also with other draft lengths; so does `auto` with those of its
// drafters that have recorded data. Rounds come from WhatIf::rounds(), one request per prompt, in order of
// the recording's texts.

/// Setting of the engine's early-exit strategies.
struct EarlyExitSetting {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  std::optional<double> threshold;  ///< A draft token of lower confidence is the last of its round.
  VerifiedLayers verified_layers = VerifiedLayers::all;
};

/// The setting as on the command line: "layerskip:exit=5,gamma=4",
/// "mix:stop=threshold,exit=5,gamma=8,threshold=0.6".
[[nodiscard]] std::string specification(const EarlyExitSetting& setting);

/// Setting of a recorded layerskip run without a threshold; absent for any other strategy, and for an
/// imported run whose file does not name the exit. The layers of an imported model may be unknown.
[[nodiscard]] std::optional<EarlyExitSetting> early_exit_of(const traces::Run& run,
                                                            const traces::Recording& recording);

struct Candidate {
  std::optional<EarlyExitSetting> setting;  ///< Absent for a recorded run.
  StrategyRounds rounds;
  bool is_of_kind = true;  ///< False for a strategy of the options that is not of the considered kind.
};

/// Kinds of settings that an advice chooses among.
enum class Considered : std::uint8_t { everything, early_exits, recorded_runs };
inline constexpr std::array all_considered{Considered::everything, Considered::early_exits,
                                           Considered::recorded_runs};
/// "everything", "early-exits", "recorded-runs".
[[nodiscard]] std::string_view considered_name(Considered considered);

struct Candidates {
  std::vector<traces::PromptId> prompts;  ///< [request]
  std::vector<RoundStatistics> vanilla;   ///< [request]
  std::vector<Candidate> all;             ///< All candidates, each of which drafts.
  std::vector<std::string> left_out;      ///< Reasons why settings were not considered, one line each.
  Considered considered = Considered::everything;
};

struct CandidateOptions {
  std::int32_t longest = 17;  ///< Maximum fixed length of early exits; lengths are 1, 2, ….
  std::vector<std::int32_t> lengths{2, 3, 4, 6, 8, 10, 12, 16};  ///< Lengths of lookup and other drafts.
  std::vector<std::int32_t> threshold_lengths{2, 4, 8, 16};
  std::vector<double> thresholds{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<std::string> strategies;             ///< Strategies to consider in addition.
  bool learners = true;                            ///< Whether to include suffix decoding and `auto`.
  Considered considered = Considered::everything;  ///< Kind that stays; the others are no candidates.
  /// Reports the number of settings done and of all settings, frequently. If it returns false, candidates()
  /// stops with an error.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// All candidates. O(tokens · exits · (longest + thresholds · their lengths)). Errors: no texts, sampled
/// texts, a strategy of the options that this recording can't answer, none of the considered kind, stopped.
[[nodiscard]] Result<Candidates> candidates(const WhatIf& what_if, const traces::Recording& recording,
                                            const CandidateOptions& options = {});

enum class Verdict : std::uint8_t {
  speculate,         ///< The 95 % intervals of the gain lie above 1.
  measure_first,     ///< Speculation may pay, but the recording can't decide it.
  do_not_speculate,  ///< No candidate is predicted to pay.
};
/// "speculate", "measure first", "do not speculate".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

/// Gain of the choice, on prompts that were held out from it.
struct HeldOutGain {
  std::int32_t folds = 0;  ///< Below 2 = too few prompts, which serve for choice and judgement.
  RatioEstimate speedup;
};

/// The fastest candidate of another kind: another exit, a fixed length instead of a threshold, or another
/// strategy. The same draft with one token more is not another kind.
struct RunnerUp {
  std::string strategy;
  double speedup = 0.0;
  RatioEstimate lead;  ///< Its time / the advised one's, over prompts at the mean prices.
};

/// Speedup of a candidate in the ranking, at the mean prices; the slower bound where it is bounded.
struct RankedCandidate {
  std::string strategy;
  std::optional<EarlyExitSetting> setting;  ///< The candidate's setting.
  double speedup = 0.0;
};

/// The fastest candidate on the prompts of one category, chosen and judged on the same prompts.
struct CategoryChoice {
  std::string category;
  std::string strategy;  ///< "vanilla" where no candidate is faster.
  double speedup = 1.0;  ///< At the mean prices; the slower bound where it is bounded.
};

/// A setting one step away from the advised one.
struct Neighbour {
  std::string change;  ///< "E-1", "E+1", "gamma-1", "gamma+1"
  std::string strategy;
  double relative = 0.0;  ///< its speedup / the advised one's − 1
};

/// Maximum batch at which some candidate is predicted to be faster than vanilla decoding of the same batch.
struct BatchLimit {
  std::int32_t last = 0;         ///< Maximum batch that pays; 0 = not even batch 1.
  std::int32_t searched = 0;     ///< Maximum batch searched; `last` equals it if no limit was found.
  bool is_extrapolated = false;  ///< Whether passes at the limit have more rows than the recorded ones.
};

/// Context from which another candidate (or none) is faster by more than `context_tolerance`.
struct ContextLimit {
  std::optional<std::int32_t> more_rows;  ///< Rows more than recorded; absent if not within `searched`.
  std::string strategy;                   ///< The fastest strategy there; "vanilla" for none.
  double gain = 0.0;                      ///< Its speedup there / the advised one's − 1.
  std::int32_t searched = 0;
  bool is_extrapolated = false;  ///< Whether the limit is beyond the recorded contexts.
};
inline constexpr double context_tolerance = 0.01;

/// Effect of near ties on the replay of early exits. At such positions the target's best two logits are
/// close, so another machine or number type may swap them.
struct NearTieEffect {
  std::int64_t at_risk = 0;  ///< Positions with a near tie.
  std::int64_t positions = 0;
  double rejected = 0.0;  ///< Speedup if every draft token at these positions were rejected.
  double accepted = 0.0;  ///< Speedup if every draft token at these positions were accepted.
};
/// Maximum difference of logits for a near tie: one step of bf16 between 16 and 32.
inline constexpr float near_tie_margin = 0.125F;

struct Advice {
  std::string machine;
  Verdict verdict = Verdict::do_not_speculate;
  std::string reason;    ///< One line.
  std::string strategy;  ///< The strategy to set: "vanilla" unless the verdict is to speculate.

  std::size_t considered = 0;                 ///< Number of candidates.
  Considered among = Considered::everything;  ///< Kind that the candidates are of, but for `besides`.
  std::vector<std::string> besides;           ///< Strategies considered though they are of another kind.
  /// The fastest candidate that drafts, as WhatIf::ask() answers for it.
  std::string fastest;
  std::optional<EarlyExitSetting> setting;  ///< Early-exit setting of the fastest candidate, if it has one.
  /// Exit layer that corresponds to the setting's on a model of another depth.
  std::optional<std::int32_t> exit_there;
  Answer answer;
  double speedup = 0.0;                 ///< The lower bound of the speedup.
  std::optional<Interval> interval_95;  ///< The outermost limits of both bounds.
  /// The recorded run of this setting, beside the answer; absent on another machine or in other conditions.
  std::optional<MeasuredBeside> measured;
  HeldOutGain held_out;
  std::optional<RunnerUp> runner_up;     ///< Absent where no other candidate is faster than vanilla decoding.
  std::optional<BreakEven> break_even;   ///< Absent where no draft step is taken.
  std::vector<Neighbour> neighbours;     ///< Neighbours of an early-exit setting.
  std::vector<RankedCandidate> ranking;  ///< All candidates, the fastest first.
  std::vector<CategoryChoice> by_category;  ///< Empty unless the prompts are of several categories.
  std::optional<NearTieEffect> near_ties;

  BatchLimit batch;
  ContextLimit context;
  std::optional<WaterfallGaps> gaps;   ///< Absent without shadow tokens.
  std::vector<std::string> to_record;  ///< Recordings that would reduce the uncertainty, most useful first.
  std::vector<std::string> left_out;   ///< Reasons why settings were not considered.
};

struct AdviceOptions {
  std::int32_t longer_context = 0;
  std::optional<std::string> other_texts;  ///< How the texts asked about differ from the recorded kind.
  std::int32_t folds = 5;
  std::int32_t max_batch = 1024;
  std::int32_t max_context = 131'072;  ///< Rows more than recorded.
  PredictionOptions draws;
  WaterfallOptions waterfall;
};

/// Errors: no vanilla run to compare with, no candidate that drafts, and errors of the parts.
[[nodiscard]] Result<Advice> advise(const WhatIf& what_if, const traces::Recording& recording,
                                    const Candidates& candidates, const Machine& machine,
                                    const AdviceOptions& options = {});

/// Writer of a policy, and the recording that it is derived from.
struct PolicyOrigin {
  std::filesystem::path trace;
  std::string command_line;
  std::string tool_version;
};

/// Policy of the advised strategy. Its figures are predictions, with the slower bound where an answer is
/// bounded; the file names the recording, the machine and the certainty. Errors: the verdict "measure first",
/// which advises nothing yet; a policy file as the strategy; a recording that lacks its model's identity; an
/// unreadable trace.
[[nodiscard]] Result<speculation::PolicyFile> advised_policy(const Advice& advice,
                                                             const traces::Recording& recording,
                                                             const PolicyOrigin& origin);

/// Policy of a setting that was asked about, whatever its gain. Errors: those of advised_policy(), and an
/// answer for a model other than the recorded one, whose acceptance is unknown.
[[nodiscard]] Result<speculation::PolicyFile> asked_policy(const Answer& answer, const Machine& machine,
                                                           const traces::Recording& recording,
                                                           const PolicyOrigin& origin);

}  // namespace draftscope::simulator
