// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// All runs of the open recordings against one of them: their gains, the winner on each category of prompts,
// and the gain on each prompt.

#include <functional>

#include "data/details/run_comparison.h"

namespace draftscope::gui {

/// Gain of a run on the prompts of one category.
struct CategoryGain {
  std::string category;  ///< empty = all prompts
  simulator::Speedup ratio;
};

struct RunStanding {
  ComparedRun run;
  bool is_baseline = false;
  std::optional<simulator::Speedup> ratio;  ///< absent for the baseline
  std::vector<CategoryGain> by_category;    ///< Categories of the baseline that the run has prompts of.
  std::vector<PromptGain> by_prompt;        ///< In order of falling gain.
};

/// The fastest run on a category; the baseline may win.
struct CategoryWinner {
  std::string category;
  std::size_t run = 0;  ///< Index into AllRuns::runs.
  /// Whether its lead over the next run is more than chance. It was chosen for being the largest.
  bool is_clear = false;
};

struct AllRuns {
  std::vector<RunStanding> runs;  ///< Runs that share prompts with the baseline (ratio 1), the fastest first.
  std::vector<std::string> categories;  ///< Categories of the baseline's prompts; empty if there is only one.
  std::vector<CategoryWinner> winners;  ///< The winner on all prompts, then one per category.
};

/// Ranks all runs with requests against one of them. `should_continue` is asked before each run; false makes
/// the result empty.
[[nodiscard]] AllRuns all_runs(const std::vector<RecordingPointer>& opened, const ComparedRun& baseline,
                               const std::function<bool()>& should_continue = {});

}  // namespace draftscope::gui
