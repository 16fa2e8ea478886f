// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Drafts of sets of sublayers that nobody recorded: what a run drafted with another set, made right or wrong
// as often as a model of sets expects (rounds/drafts/set_agreement.h). Two cases, at the model's two standard
// errors.

#include <draftscope/speculation/catalogue/strategy_specification.h>

#include "rounds/trained_recording.h"

namespace draftscope::simulator {

/// Whether the strategy leaves out sublayers of the middle: a set of its own, or a number of them that its
/// search chooses.
[[nodiscard]] bool skips_sublayers(const speculation::StrategySpecification& strategy);

/// Errors: nothing that was tried says how such sets agree, a set that only a file names, as redraft().
[[nodiscard]] Result<StrategyRounds> unrecorded_set_rounds(const TrainedRecording& trained,
                                                           const speculation::StrategySpecification& strategy,
                                                           std::string_view text);

}  // namespace draftscope::simulator
