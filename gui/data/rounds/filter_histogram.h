// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How the rounds of a run spread over a field that a filter asks for, and which of them it leaves.

#include "data/rounds/round_filter.h"

namespace draftscope::gui {

struct FilterHistogram {
  const FilterField* field = nullptr;
  double low = 0.0;                 ///< of the first bin
  double high = 0.0;                ///< of the last; rounds beyond, of which there are few, are in it
  std::vector<std::uint32_t> all;   ///< [bin]
  std::vector<std::uint32_t> left;  ///< [bin] that the filter leaves
};

/// Histogram of the filter's first number or time, or of the time of rounds if it has none. `keeps` is by
/// index into Recording::rounds. Empty bins if the run has no round.
[[nodiscard]] FilterHistogram filter_histogram(const OpenedRecording& opened, std::size_t run_index,
                                               const RoundFilter& filter, const std::vector<bool>& keeps);

}  // namespace draftscope::gui
