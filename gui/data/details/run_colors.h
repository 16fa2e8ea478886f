// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Order of a recording's runs by speed, and what follows from it: the run that is shown first, the runs that
// are compared first, and a colour that a run keeps on every page.

#include "data/details/run_comparison.h"

namespace draftscope::gui {

/// Runs with rounds, as indices into OpenedRecording::runs(), in order of falling tokens per second with the
/// prefill, like the overview's table.
[[nodiscard]] std::vector<std::size_t> runs_by_speed(const OpenedRecording& opened);

/// The fastest run that drafts; 0 if no run drafts.
[[nodiscard]] std::size_t run_to_open(const OpenedRecording& opened);

/// The vanilla run and the fastest others, `count` runs at most.
[[nodiscard]] std::vector<ComparedRun> runs_to_compare(const RecordingPointer& opened, std::size_t count);

/// Index for series_color() of each run: 0 for vanilla decoding, else the run's place among the others by
/// speed, from 1. If two of these runs would be alike, the later one takes the next free index.
[[nodiscard]] std::vector<std::size_t> run_colors(const std::vector<ComparedRun>& runs);

}  // namespace draftscope::gui
