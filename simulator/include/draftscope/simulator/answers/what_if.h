// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From one recording to answers: what would this strategy have given, on that machine, with that model?
//
// Three things are read from the recording once: the texts with the prediction of every layer at every
// position, the rounds as they were recorded, and the costs of passes (cost_model.h). A question then takes
// rounds from here (those of a recorded run as they were; of any other setting from a replay of the texts, or
// from a model of acceptance where no layer's predictions were recorded) and asks for their answer on a
// machine (answer.h).

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

/// Data that questions need of the recording; defined beside the simulator's sources, for which it is.
struct TrainedRecording;

struct WhatIfOptions {
  std::optional<GpuSpecification> recorded_on;  ///< the GPU of the recording, whose numbers become priors
  /// Costs that are not the recording's: of an imported one, which has no times that a fit could use.
  std::optional<CostModel> specified;
  /// Told of parts done, and all, often enough to stop by returning false: train() then fails.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// Questions to one recording. A value whose copies share what was read; its questions are independent of one
/// another and may be asked from several threads at once.
class WhatIf {
 public:
  /// Reads and fits what questions need. `recording` must outlive the result. Errors: no usable round, no
  /// shape in meta, unreadable tables. A recording without shadow tokens is no error: what is missing shows
  /// in the answers. An imported recording needs `specified` costs; what it lacks limits the questions, as
  /// answers say.
  [[nodiscard]] static Result<WhatIf> train(traces::Reader& reader, const traces::Recording& recording,
                                            const WhatIfOptions& options = {});

  /// Costs of the recording's machine and model, as ask() wants them.
  [[nodiscard]] const CostFit& costs() const;

  /// Scenario of the recording's own machine and model, at the longest context of its texts.
  [[nodiscard]] Scenario recorded_scenario() const;

  /// Rounds of `strategy`, which is written as on the command line. Errors: an unknown strategy or parameter;
  /// a question that this recording can't answer, with the reason and what to record instead.
  [[nodiscard]] Result<StrategyRounds> rounds(std::string_view strategy) const;

  /// The same on this machine: other rounds where goes_by_times(strategy). Errors: those, and a scenario that
  /// contradicts itself.
  [[nodiscard]] Result<StrategyRounds> rounds(std::string_view strategy, const Machine& machine) const;

  /// Reason why no other setting than the recorded ones can be replayed, one line; empty if they can.
  [[nodiscard]] std::string no_replay_reason() const;

  /// Fits now what the first question about each recorded exit would wait for where no layer's predictions
  /// were recorded.
  void fit_acceptance() const;

  [[nodiscard]] const TrainedRecording& trained() const { return *trained_; }

 private:
  explicit WhatIf(std::shared_ptr<const TrainedRecording> trained) : trained_(std::move(trained)) {}

  std::shared_ptr<const TrainedRecording> trained_;
};

// Exits of the model that is asked about, where that is deeper or shallower than the recorded one. Without
// this an exit is one of the recorded model's layers, and stands for the same share of the other's depth.

/// Rounds of a strategy whose `exit` counts layers of `asked`, for_shape() included: acceptance is that of
/// the recorded exit nearest to the same share of the depth, the price that of the exit itself. A strategy
/// without an exit, and a model of the recorded depth, are as with WhatIf::rounds(). Errors: an exit that is
/// no layer below `asked`'s last; those of WhatIf::rounds().
[[nodiscard]] Result<StrategyRounds> rounds_at_target_exit(const WhatIf& what_if, std::string_view strategy,
                                                           const ModelShape& asked);

/// Comparison of prompts that are asked about with recorded ones.
struct PromptComparison {
  bool is_other_kind = false;
  std::string difference;  ///< one line: the statistics by which they differ, with figures
};

/// Compares each prompt's length, the share of it that repeats itself, and its entropy under trigrams of the
/// recorded prompts (without itself). What all recorded prompts begin and end with (a chat template) is left
/// out. Of another kind are prompts of which one statistic is above (or below) the recorded ones' three times
/// of four or more, and with 99 % confidence not by chance. Prompts of later turns are left out, and of long
/// ones all beyond 16 KiB. O(bytes · recorded). Errors: too few prompts to tell kinds apart, which
/// takes five recorded and five asked ones, or three asked of 20 recorded.
[[nodiscard]] Result<PromptComparison> compare_prompts(const traces::Recording& recording,
                                                       std::span<const std::string> asked);

}  // namespace draftscope::simulator
