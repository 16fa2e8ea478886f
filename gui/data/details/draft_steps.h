// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which draft tokens a draft step proposed.

#include <vector>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

/// Name of the spans that the engine records a draft step as.
inline constexpr std::string_view draft_step_name = "draft step";

/// Place of a slice among those of its name and round that follow one another in its lane, from 0.
[[nodiscard]] std::size_t draft_step_of(const LaneSlices& slices, std::size_t index);

/// Tokens that a step of the round proposed, as indices into draft_tokens(): those as deep in the token tree
/// as the step is late. Of a chain one at most.
[[nodiscard]] std::vector<std::size_t> tokens_of_step(const OpenedRecording& opened,
                                                      std::uint32_t round_index, std::size_t step);

}  // namespace draftscope::gui
