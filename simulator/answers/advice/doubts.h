// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Doubts about an advice's figures, and recordings that would reduce them.

#include <draftscope/simulator/answers/advice.h>

namespace draftscope::simulator {

/// The setting's speedup with every near tie flipped one way and the other, at the mean prices. Absent where
/// the strategy's rounds are not replayed. Errors: those of the replay.
[[nodiscard]] Result<std::optional<NearTieEffect>> near_tie_effect(const WhatIf& what_if,
                                                                   const traces::Recording& recording,
                                                                   const std::string& strategy,
                                                                   const Machine& machine,
                                                                   std::int32_t longer_context);

/// Suggestions with the largest share of the variance first; then those that no variance shows.
[[nodiscard]] std::vector<std::string> what_to_record(const Advice& advice, const Machine& machine,
                                                      const CostModel& model,
                                                      const traces::Recording& recording);

}  // namespace draftscope::simulator
