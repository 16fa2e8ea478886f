// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Comparison of two recordings: which settings differ, and how the runs that both contain differ. A ratio
// across recordings is never called a speedup, because machine, clocks and settings may have changed between
// them.

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
  /// Whether program, model, machine, threads, sampling or limits differ, which makes it another experiment
  /// and not a repetition.
  bool changes_experiment = false;
};

/// Differences by key. Keys that differ between any two recordings (clocks, counts, the command line) are
/// left out.
[[nodiscard]] std::vector<MetaDifference> meta_differences(Baseline<traces::Meta> baseline,
                                                           Comparison<traces::Meta> comparison);

struct RunComparison {
  const traces::Run* baseline = nullptr;
  const traces::Run* comparison = nullptr;
  std::size_t prompts = 0;  ///< Prompts that both decoded.
  /// Tokens per second of the comparison over those of the baseline, on the prompts of both; absent if they
  /// share none, or if wall times of a side are unknown.
  std::optional<Speedup> ratio;
  /// The p value of `ratio`, corrected for the number of runs compared (Holm); absent with too few prompts.
  std::optional<double> adjusted_p_value;
  std::optional<OutputIdentity> identity;  ///< As output_identity().
};

/// Whether both runs have the same specification, or the same strategy with the same parameters. A parameter
/// that is given with its default value counts as not given.
[[nodiscard]] bool is_same_setting(const traces::Run& a, const traces::Run& b);

/// Compares runs of the same setting, in order of the baseline. If each side has one run only, these two are
/// compared whatever their names are.
[[nodiscard]] std::vector<RunComparison> compare_runs(Baseline<std::vector<RunRows>> baseline,
                                                      Comparison<std::vector<RunRows>> comparison);

/// Holm's step-down correction: the family-wise error over all given tests stays at the chosen level.
[[nodiscard]] std::vector<double> holm_adjusted(std::span<const double> p_values);

// This part says which strategy wins on which text.

/// The fastest run of a recording on the prompts of one category, ranked by speedup over vanilla decoding.
/// Vanilla decoding takes part with speedup 1.
struct Winner {
  std::string category;  ///< empty = all
  const traces::Run* run = nullptr;
  const traces::Run* runner_up = nullptr;
  /// Lead of the winner over the runner-up on the same prompts. The winner was selected as the largest, so
  /// the p value is too small where many runs are close.
  std::optional<Speedup> lead;
};

/// Maximum p value at which a difference is considered significant.
inline constexpr double significance_level = 0.05;

/// Whether the lead is statistically significant; false where that is not known.
[[nodiscard]] inline bool is_clear(const Winner& winner) {
  return winner.lead && winner.lead->p_value && *winner.lead->p_value < significance_level;
}

/// Winner on all prompts first, then one per category if there are several. Empty without a baseline, without
/// another run that shares prompts with it, or without wall times. O(runs · categories · rows).
[[nodiscard]] std::vector<Winner> winners(const traces::Recording& recording);

}  // namespace draftscope::simulator
