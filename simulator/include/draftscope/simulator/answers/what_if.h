// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Answers from one recording: the speed that another strategy, machine or model would have given.
//
// Three things are read from the recording once: the texts with the prediction of every layer at every
// position, the recorded rounds, and the costs of passes (cost_model.h). A question then takes rounds from
// here and asks for their answer on a machine (answer.h). Rounds of a recorded run are used unchanged. Those
// of any other setting come from a replay of the texts, or from a model of acceptance where no layer's
// predictions were recorded.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace draftscope::simulator {

/// Data of the recording that questions need; private to the simulator and defined among its sources.
struct TrainedRecording;

struct WhatIfOptions {
  /// GPU of the recording, whose parameters become priors; absent = the one that the driver's name finds.
  std::optional<GpuSpecification> recorded_on;
  /// Costs for an imported recording, which has no times that a fit could use.
  std::optional<CostModel> specified;
  /// Reports the parts done and their total, frequently. If it returns false, train() stops with an error.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// Answers questions about one recording. Copies share the data that was read; questions are independent of
/// one another and may be asked from several threads at once.
class WhatIf {
 public:
  /// Reads and fits the data that questions need. `recording` must outlive the result. Errors: no usable
  /// round, no shape in meta, unreadable tables. A recording without shadow tokens is no error: answers say
  /// what is missing. An imported recording needs `specified` costs; data that it lacks limits the questions,
  /// as answers say.
  [[nodiscard]] static Result<WhatIf> train(traces::Reader& reader, const traces::Recording& recording,
                                            const WhatIfOptions& options = {});

  /// Costs of the recording's machine and model, as ask() needs them.
  [[nodiscard]] const CostFit& costs() const;

  /// Scenario of the recorded machine and model, at the longest context of its texts.
  [[nodiscard]] Scenario recorded_scenario() const;

  /// Rounds of `strategy`, in command-line syntax. Errors: an unknown strategy or parameter; a question that
  /// this recording can't answer, with the reason and what to record instead.
  [[nodiscard]] Result<StrategyRounds> rounds(std::string_view strategy) const;

  /// Rounds of `strategy` on this machine, which differ where goes_by_times(strategy). Errors: those of
  /// rounds(strategy), and a scenario that contradicts itself.
  [[nodiscard]] Result<StrategyRounds> rounds(std::string_view strategy, const Machine& machine) const;

  /// Reason why only recorded settings can be replayed, one line; empty if others can.
  [[nodiscard]] std::string no_replay_reason() const;

  /// Fits acceptance models now that the first question about each recorded exit would otherwise wait for.
  /// Does nothing where layers' predictions were recorded.
  void fit_acceptance() const;

  [[nodiscard]] const TrainedRecording& trained() const { return *trained_; }

 private:
  explicit WhatIf(std::shared_ptr<const TrainedRecording> trained) : trained_(std::move(trained)) {}

  std::shared_ptr<const TrainedRecording> trained_;
};

// Exits of an asked model that is deeper or shallower than the recorded one. By default an exit is one of the
// recorded model's layers, and stands for the same share of the other model's depth.

/// Rounds of a strategy whose `exit` counts layers of `asked`, for_shape() included. Acceptance is that of
/// the recorded exit nearest to the same share of the depth; the price is that of the exit itself. For a
/// strategy without an exit, or a model of the recorded depth, the result is that of WhatIf::rounds().
/// Errors: an exit that is no layer below the last one of `asked`; those of WhatIf::rounds().
[[nodiscard]] Result<StrategyRounds> rounds_at_target_exit(const WhatIf& what_if, std::string_view strategy,
                                                           const ModelShape& asked);

/// Comparison of asked prompts with recorded ones.
struct PromptComparison {
  bool is_other_kind = false;
  std::string difference;  ///< One line: the statistics by which they differ, with figures.
};

/// Compares each prompt's length, its self-repeating share, and its entropy under trigrams of the recorded
/// prompts (without itself). A prefix and suffix common to all recorded prompts (a chat template) is left
/// out. Prompts are of another kind if one statistic is above (or below) the recorded ones' three times out
/// of four or more, with 99 % confidence. Prompts of later turns are left out; so is everything beyond 16 KiB
/// of a prompt. O(bytes · recorded). Errors: too few prompts to tell kinds apart, which takes five recorded
/// and five asked ones, or three asked with 20 recorded.
[[nodiscard]] Result<PromptComparison> compare_prompts(const traces::Recording& recording,
                                                       std::span<const std::string> asked);

// Checks whether a recording has the data that questions need. Errors are one line that begins with `name`,
// by which the user knows the file, and say what to record instead. Pure functions, safe from any thread.

/// Check for any question. Errors: a trace that was predicted; an imported timeline without accepted lengths.
[[nodiscard]] Result<void> check_can_be_asked(const traces::Recording& recording, const std::string& name);

/// Check for a gain over vanilla decoding. Errors: no vanilla run.
[[nodiscard]] Result<void> check_has_vanilla(const traces::Recording& recording, const std::string& name);

/// Check for advice (advice.h). Errors: an imported trace; no vanilla run.
[[nodiscard]] Result<void> check_can_be_advised_on(const traces::Recording& recording,
                                                   const std::string& name);

}  // namespace draftscope::simulator
