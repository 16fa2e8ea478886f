// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One recording against another: what was set differently, and how the runs that both hold differ. A ratio
// across recordings is never called a speedup: machine, clocks and settings may have changed between them.

#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/traces/reader.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace draftscope::simulator {

struct MetaDifference {
  std::string key;
  std::string baseline;    ///< empty if absent
  std::string comparison;  ///< empty if absent
  /// Program, model, machine, threads, sampling, limits: another experiment, not a repetition.
  bool changes_experiment = false;
};

/// Differences by key. Leaves out what differs between any two recordings (clocks, counts, the command line).
[[nodiscard]] std::vector<MetaDifference> meta_differences(Baseline<traces::Meta> baseline,
                                                           Comparison<traces::Meta> comparison);

struct RunComparison {
  const traces::Run* baseline = nullptr;
  const traces::Run* comparison = nullptr;
  /// Tokens a second of the comparison over the baseline's, on the prompts of both; absent if they share
  /// none.
  std::optional<Speedup> ratio;
  /// ratio's p value corrected for the number of runs compared (Holm); absent with too few prompts.
  std::optional<double> adjusted_p_value;
  OutputIdentity identity;
};

/// Whether both have the same specification, or the same strategy with the same parameters: one that is
/// spelled out and has its default makes no other setting.
[[nodiscard]] bool is_same_setting(const traces::Run& a, const traces::Run& b);

/// Runs of the same setting, in the baseline's order. If neither side has more than one run, these
/// two are compared whatever they are called.
[[nodiscard]] std::vector<RunComparison> compare_runs(Baseline<std::vector<RunRows>> baseline,
                                                      Comparison<std::vector<RunRows>> comparison);

/// Holm's step-down correction: the family-wise error over all given tests stays at the chosen level.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p_values);

// Which strategy wins on which text.

/// The fastest run of a recording on the prompts of one category, by its speedup over vanilla decoding, which
/// takes part with 1.
struct Winner {
  std::string category;  ///< empty = all
  const traces::Run* run = nullptr;
  const traces::Run* runner_up = nullptr;
  /// Lead of the winner over the runner-up, on the same prompts. It was chosen for being the largest, so that
  /// its p value is too small where many runs are close.
  std::optional<Speedup> lead;
};

/// Maximum p value of a difference that is not put down to chance.
inline constexpr double significance_level = 0.05;

/// Whether the lead is more than chance; false where it is not known.
[[nodiscard]] inline bool is_clear(const Winner& winner) {
  return winner.lead && winner.lead->p_value && *winner.lead->p_value < significance_level;
}

/// All prompts first, then by category if there are several. Empty without a baseline or without another run
/// that shares prompts with it. O(runs · categories · rows).
[[nodiscard]] std::vector<Winner> winners(const traces::Recording& recording);

}  // namespace draftscope::simulator
