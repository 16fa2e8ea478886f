// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How sure the speedup of decoding alone is: the interval over prompts of the ratio of the time after the
// first token. For runs whose answers are equally long, of which that ratio is the speedup.

#include <draftscope/simulator/figures/speedup.h>
#include <optional>
#include <vector>

#include "data/opened_recording.h"

namespace draftscope::gui {

/// 95 %; absent with fewer prompts than simulator::min_clusters_for_interval.
[[nodiscard]] std::optional<simulator::Interval> decode_interval(const simulator::Pairing& pairing);

/// Intervals of all runs over the baseline, in the order of the runs; absent for the baseline, and all of
/// them without one or without rows.
[[nodiscard]] std::vector<std::optional<simulator::Interval>> decode_intervals(const OpenedRecording& opened);

}  // namespace draftscope::gui
