// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Comparison of an answer about a recorded run, on the recorded machine, with the measured run. Both count
// decoding only, from the first token to the end, without the prefill.
//
// Pure functions, safe from any thread.

#include <draftscope/base/number_text.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/prices/cost_model.h>
#include <draftscope/traces/reader.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct MeasuredSetting {
  std::string strategy;            ///< Specification of the run.
  double tokens_per_second = 0.0;  ///< Rate after the first token.
  double vanilla_tokens_per_second = 0.0;
  double speedup = 1.0;
  std::optional<Interval> interval_95;  ///< Interval of the speedup over prompts; absent with few prompts.
  /// 99th percentile of the times of its rounds / their median; 0 without rounds.
  double round_spread = 0.0;
  double vanilla_round_spread = 0.0;  ///< 99th percentile / median of the vanilla run's rounds.
};

/// One element for each run that has a vanilla run on the same prompts, in order of the recording; the
/// vanilla run itself has none. An imported recording has none, since its costs come from elsewhere.
/// O(rounds).
[[nodiscard]] std::vector<MeasuredSetting> measured_settings(const traces::Recording& recording);

/// Run that `answer` describes; null if it was not recorded. Only for answers about the recorded machine,
/// prompts and contexts (is_recorded_machine()).
[[nodiscard]] const MeasuredSetting* measured_setting_of(const Answer& answer,
                                                         std::span<const MeasuredSetting> runs);

/// Whether a machine is the recorded one under the conditions of the recording.
[[nodiscard]] bool is_recorded_machine(const Machine& machine, const Scenario& recorded);

/// Comparison of an answer with the run that it describes.
struct MeasuredBeside {
  MeasuredSetting run;
  double predicted = 1.0;                         ///< Speedup with the fewest draft tokens.
  std::optional<Interval> predicted_interval_95;  ///< The outermost limits of both bounds.
  double relative_error = 0.0;                    ///< predicted / measured − 1
  /// Whether the measured speedup is outside the predicted 95 % interval; without an interval, whether it is
  /// 5 % off.
  bool differs = false;
  /// Possible causes of the difference that the recording shows; empty where none is found.
  std::vector<std::string> reasons;
};

/// `fit` says how well the answer's costs explain the recording; `meta` is the recording's.
[[nodiscard]] MeasuredBeside measured_beside(const Answer& answer, const MeasuredSetting& run,
                                             const CostFitReport& fit, const traces::Meta& meta);

/// One line: both speedups, their difference and, if they differ, its possible causes.
[[nodiscard]] std::string beside_line(const MeasuredBeside& beside, Characters characters);

}  // namespace draftscope::simulator
