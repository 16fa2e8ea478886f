// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Advice on what to set on a machine: which strategy, or none, what it will bring, how sure that is, and what
// the answer hangs on. Everything is predicted from a recording (what_if.h) and as good as its cost model.
//
// The fastest of hundreds of candidates looks faster than it is: it was chosen for its luck as well. So the
// choice is repeated without each fold's prompts, and judged on them (cross-validation; Stone 1974), with the
// cost model's uncertainty in the interval. Where the number of draft tokens is bounded, candidates compete
// with the slower bound.
//
// Safe from any thread; the same options give the same bits.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/recording_waterfall.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/simulator/prices/closed_forms.h>
#include <draftscope/speculation/policy_file.h>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

// The choices of an advice: early exits of every layer with fixed lengths and with confidence thresholds
// (without shadow tokens, of the recorded exits), prompt lookup of several lengths, suffix decoding, the
// recorded runs, whatever they draft with, other lengths of their drafts, and `auto` with those of its
// drafters of which something is recorded. Rounds are those of WhatIf::rounds(), one request a prompt, in the
// order of the recording's texts.

/// Settings of the engine's early-exit strategies.
struct EarlyExitSetting {
  std::int32_t exit = 1;
  std::int32_t gamma = 1;
  std::optional<double> threshold;  ///< a draft token of lower confidence is the round's last
  VerifiedLayers verified_layers = VerifiedLayers::all;
};

/// The setting as on the command line: "layerskip:exit=5,gamma=4",
/// "mix:stop=threshold,exit=5,gamma=8,threshold=0.6".
[[nodiscard]] std::string specification(const EarlyExitSetting& setting);

/// Setting of a recorded layerskip run without a threshold; absent for any other strategy, and for an
/// imported run whose file does not name the exit. Layers of an imported model need not be known.
[[nodiscard]] std::optional<EarlyExitSetting> early_exit_of(const traces::Run& run,
                                                            const traces::Recording& recording);

struct Candidate {
  std::optional<EarlyExitSetting> setting;  ///< absent: a recorded run
  StrategyRounds rounds;
};

struct Candidates {
  std::vector<traces::PromptId> prompts;  ///< by request
  std::vector<RoundStatistics> vanilla;   ///< by request
  std::vector<Candidate> all;             ///< none that never drafts
  std::vector<std::string> left_out;      ///< a line each: what was not considered, and why
};

struct CandidateOptions {
  std::int32_t longest = 17;                                     ///< fixed lengths 1, 2, … of early exits
  std::vector<std::int32_t> lengths{2, 3, 4, 6, 8, 10, 12, 16};  ///< of prompt lookup, and other drafts
  std::vector<std::int32_t> threshold_lengths{2, 4, 8, 16};
  std::vector<double> thresholds{0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<std::string> strategies;  ///< considered besides
  bool learners = true;                 ///< suffix decoding and `auto`, too
  const Machine* machine = nullptr;     ///< whose times `auto` goes by; null: the recorded one
  /// Told of settings done, and all, often enough to stop by returning false: candidates() then fails.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// O(tokens · exits · (longest + thresholds · their lengths)). Errors: no texts, sampled ones, a strategy of
/// the options that this recording can't answer for, stopped.
[[nodiscard]] Result<Candidates> candidates(const WhatIf& what_if, const traces::Recording& recording,
                                            const CandidateOptions& options = {});

enum class Verdict : std::uint8_t {
  speculate,         ///< the gain's 95 % intervals lie above 1
  measure_first,     ///< it may pay, but the recording can't say so
  do_not_speculate,  ///< no candidate is predicted to pay
};
/// "speculate", "measure first", "do not speculate".
[[nodiscard]] std::string_view verdict_name(Verdict verdict);

/// The gain of the choice, on prompts that it was made without.
struct HeldOutGain {
  std::int32_t folds = 0;  ///< below 2: too few prompts; chosen and judged on the same
  RatioEstimate speedup;
};

/// The fastest candidate of another kind: another exit, fixed length in place of threshold, another
/// strategy; not the same draft a token longer.
struct RunnerUp {
  std::string strategy;
  double speedup = 0.0;
  RatioEstimate lead;  ///< its time / the advised one's, over prompts at the means of the prices
};

/// A candidate's place among all, at the means of the prices; the slower bound where it is bounded.
struct RankedCandidate {
  std::string strategy;
  std::optional<EarlyExitSetting> setting;  ///< as the candidate has it
  double speedup = 0.0;
};

/// A setting next to the advised one.
struct Neighbour {
  std::string change;  ///< "E-1", "E+1", "gamma-1", "gamma+1"
  std::string strategy;
  double relative = 0.0;  ///< its speedup / the advised one's − 1
};

/// Up to which batch some candidate is predicted to be faster than vanilla decoding of the same batch.
struct BatchLimit {
  std::int32_t last = 0;         ///< 0: not even at batch 1
  std::int32_t searched = 0;     ///< up to here; `last` equals it where there is no limit below
  bool is_extrapolated = false;  ///< passes at the limit have more rows than the recording's
};

/// From which context on another candidate (or none) is faster by more than `context_tolerance`.
struct ContextLimit {
  std::optional<std::int32_t> more_rows;  ///< than recorded; absent: not within `searched`
  std::string strategy;                   ///< that is fastest there; "vanilla" for none
  double gain = 0.0;                      ///< its speedup / the advised one's − 1, there
  std::int32_t searched = 0;
  bool is_extrapolated = false;  ///< beyond the recording's contexts
};
inline constexpr double context_tolerance = 0.01;

/// Effect on the replay of early exits of positions where the target's best two logits are close: on another
/// machine or number type they may change places.
struct NearTieEffect {
  std::int64_t at_risk = 0;  ///< positions
  std::int64_t positions = 0;
  double rejected = 0.0;  ///< speedup if every draft token there were rejected
  double accepted = 0.0;  ///< and if every one were accepted
};
/// Logits: one step of bf16 between 16 and 32.
inline constexpr float near_tie_margin = 0.125F;

struct Advice {
  std::string machine;
  Verdict verdict = Verdict::do_not_speculate;
  std::string reason;    ///< one line
  std::string strategy;  ///< what to set: "vanilla" unless the verdict is to speculate

  std::size_t considered = 0;  ///< candidates
  /// The fastest candidate that drafts, as WhatIf::ask() answers for it.
  std::string fastest;
  std::optional<EarlyExitSetting> setting;  ///< of it, if it is one
  /// On a model of another depth: the exit layer of that model which the setting's stands for.
  std::optional<std::int32_t> exit_there;
  Answer answer;
  double speedup = 0.0;                 ///< the slower bound
  std::optional<Interval> interval_95;  ///< outermost of both bounds
  HeldOutGain held_out;
  std::optional<RunnerUp> runner_up;
  std::optional<BreakEven> break_even;   ///< absent where no draft step is taken
  std::vector<Neighbour> neighbours;     ///< of early exits
  std::vector<RankedCandidate> ranking;  ///< all candidates, the fastest first
  std::optional<NearTieEffect> near_ties;

  BatchLimit batch;
  ContextLimit context;
  std::optional<WaterfallGaps> gaps;   ///< absent without shadow tokens
  std::vector<std::string> to_record;  ///< what would make this surer, most useful first
  std::vector<std::string> left_out;   ///< what was not considered, and why
};

struct AdviceOptions {
  std::int32_t longer_context = 0;
  std::optional<std::string> other_texts;  ///< how the texts asked about differ from the recorded kind
  std::int32_t folds = 5;
  std::int32_t max_batch = 1024;
  std::int32_t max_context = 131'072;  ///< more rows
  SweepOptions draws;
  WaterfallOptions waterfall;
};

/// Errors: no vanilla run to gain over, no candidate that drafts, and those of the parts.
[[nodiscard]] Result<Advice> advise(const WhatIf& what_if, const traces::Recording& recording,
                                    const Candidates& candidates, const Machine& machine,
                                    const AdviceOptions& options = {});

/// Writer of a policy, and the recording that it is written from.
struct PolicyOrigin {
  std::filesystem::path trace;
  std::string command_line;
  std::string tool_version;
};

/// Policy of the advised strategy: its figures are predictions, the slower bound where an answer is bounded,
/// and the file says of which recording, for which machine and how sure. Errors: a verdict to measure first,
/// which advises nothing yet; a policy file as the strategy; a recording that lacks its model's identity; an
/// unreadable trace.
[[nodiscard]] Result<speculation::PolicyFile> advised_policy(const Advice& advice,
                                                             const traces::Recording& recording,
                                                             const PolicyOrigin& origin);

/// Policy of a setting that was asked about, whatever it brings. Errors: as above, and an answer for another
/// model than the recorded one, of whose acceptance nothing is known.
[[nodiscard]] Result<speculation::PolicyFile> asked_policy(const Answer& answer, const Machine& machine,
                                                           const traces::Recording& recording,
                                                           const PolicyOrigin& origin);

}  // namespace draftscope::simulator
