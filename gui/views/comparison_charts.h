// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Charts of the comparison, with their data as tables.

#include "charts/chart.h"
#include "data/details/run_comparison.h"

namespace draftscope::gui {

/// Specification of a run, and its recording where the runs come from several.
[[nodiscard]] QString standing_name(const AllRuns& all, std::size_t run);

/// Chart with one row per run, the fastest on top: its ratio with the 95 % interval, and a line at 1. Runs in
/// `compared` have their colours, others are grey. A point's y is its run's index in `all.runs`. Empty
/// without a run beside the baseline, as is category_chart().
[[nodiscard]] Chart forest_chart(const AllRuns& all, const std::vector<ComparedRun>& compared);

/// Chart with one row per run and one column per category of prompts; the fastest of each column is marked,
/// with a dashed mark if its lead may be chance.
[[nodiscard]] Chart category_chart(const AllRuns& all);

/// Gains on single prompts, the largest first, with one series per run in `runs`, in the run's colour. Point
/// i of a series is `by_prompt[i]` of its run.
[[nodiscard]] Chart prompts_chart(const AllRuns& all, const std::vector<ComparedRun>& runs);
/// Run that belongs to a series of prompts_chart(); null if there is none.
[[nodiscard]] const RunStanding* standing_of_series(const AllRuns& all, const std::vector<ComparedRun>& runs,
                                                    std::size_t series);

}  // namespace draftscope::gui
