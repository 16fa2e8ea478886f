// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// All runs of the open recordings against one of them: their gains, which wins on which category of prompts,
// and the gain on each prompt.

#include <functional>

#include "data/details/run_comparison.h"

namespace draftscope::gui {

/// Gain of a run on the prompts of one category.
struct CategoryGain {
  std::string category;  ///< empty: all prompts
  simulator::Speedup ratio;
};

struct RunStanding {
  ComparedRun run;
  bool is_baseline = false;
  std::optional<simulator::Speedup> ratio;  ///< absent for the baseline
  std::vector<CategoryGain> by_category;    ///< those of the baseline's that the run has prompts of
  std::vector<PromptGain> by_prompt;        ///< the largest gain first
};

/// The fastest on a category, the baseline among them.
struct CategoryWinner {
  std::string category;
  std::size_t run = 0;  ///< index into AllRuns::runs
  /// Whether its lead over the next is more than chance; it was chosen for being the largest.
  bool is_clear = false;
};

struct AllRuns {
  std::vector<RunStanding> runs;  ///< the fastest first, the baseline at 1; those that share prompts with it
  std::vector<std::string> categories;  ///< of the baseline's prompts; none where there is one alone
  std::vector<CategoryWinner> winners;  ///< all prompts first, then by category
};

/// Standings of all runs with requests against one of them. Empty if `should_continue`, which is asked before
/// each run, says no.
[[nodiscard]] AllRuns all_runs(const std::vector<RecordingPointer>& opened, const ComparedRun& baseline,
                               const std::function<bool()>& should_continue = {});

}  // namespace draftscope::gui
