// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The comparison as charts, with their data as tables.

#include "charts/chart.h"
#include "data/details/all_runs.h"

namespace draftscope::gui {

/// A run's specification, and its recording where runs are of several.
[[nodiscard]] QString standing_name(const AllRuns& all, std::size_t run);

/// A row a run, the fastest on top: its ratio with the 95 % interval, and a line at 1.
[[nodiscard]] Chart forest_chart(const AllRuns& all);

/// A row a run, a column a category of prompts; the fastest of each column is marked.
[[nodiscard]] Chart category_chart(const AllRuns& all);

/// Gains on single prompts, the largest first; a series each of these runs, in the colours of their places
/// here. Point i of a series is `by_prompt[i]` of its run.
[[nodiscard]] Chart prompts_chart(const AllRuns& all, const std::vector<ComparedRun>& runs);
/// The run that a series of prompts_chart() is of; null for none.
[[nodiscard]] const RunStanding* standing_of_series(const AllRuns& all, const std::vector<ComparedRun>& runs,
                                                    std::size_t series);

}  // namespace draftscope::gui
