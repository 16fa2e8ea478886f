// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The draft tokens that a draft step proposed.

#include <vector>

#include "data/lanes/timeline.h"
#include "data/opened_recording.h"

namespace draftscope::gui {

/// Name of the spans that the engine records for draft steps.
inline constexpr std::string_view draft_step_name = "draft step";

/// Place of a slice, from 0, among consecutive slices in its lane with the same name and round.
[[nodiscard]] std::size_t draft_step_of(const LaneSlices& slices, std::size_t index);

/// Tokens that a step of the round proposed, as indices into draft_tokens(): all tokens at the step's depth
/// in the token tree, in a chain at most one.
[[nodiscard]] std::vector<std::size_t> tokens_of_step(const OpenedRecording& opened,
                                                      std::uint32_t round_index, std::size_t step);

}  // namespace draftscope::gui
