// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Changes of a run's mask: how far a mask is from the one before it, and which decision caused the change.

#include <cstdint>
#include <optional>
#include <string>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

struct MaskChange {
  std::uint32_t before = no_index;  ///< Place of the previous round that drafted with layers.
  std::int32_t differing = 0;       ///< Sublayers that exactly one of the two masks skips.
  std::int32_t sublayers = 0;
  double in_common = 1.0;  ///< Overlap of skipped sublayers, |A ∩ B| / |A ∪ B|; 1 if neither skips any.
};

/// None if the round at this place drafts with the mask of the last round before it, or without a mask.
[[nodiscard]] std::optional<MaskChange> mask_change(const OpenedRecording& opened, std::size_t run_index,
                                                    std::size_t place);

/// Finds the decision that chose the mask at this place: the round's own one if each round decides for
/// itself, else the last one before it that took effect. None if no recorded decision chose the mask.
[[nodiscard]] std::optional<DecisionPlace> mask_decision(const DecisionHistory& history,
                                                         std::size_t run_index, std::size_t place);

/// "the mask changed in 5 of 24 sublayers from round 40's (61 % of the skipped in common), because of …". One
/// line; empty where it did not change.
[[nodiscard]] std::string mask_change_text(const DecisionHistory& history, std::size_t run_index,
                                           std::size_t place);

}  // namespace draftscope::gui
