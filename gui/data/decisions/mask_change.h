// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where a run's mask changed: how far it is from the one before, and which decision brought it.

#include <cstdint>
#include <optional>
#include <string>

#include "data/decisions/decision_history.h"

namespace draftscope::gui {

struct MaskChange {
  std::uint32_t before = no_index;  ///< place of the last round before that drafted with layers
  std::int32_t differing = 0;       ///< sublayers that one of the two skips and the other runs
  std::int32_t sublayers = 0;
  double in_common = 1.0;  ///< of the skipped sublayers: |A ∩ B| / |A ∪ B|; 1 where neither skips any
};

/// None if the round at this place of the run drafts with the mask of the last before it, or with none.
[[nodiscard]] std::optional<MaskChange> mask_change(const OpenedRecording& opened, std::size_t run_index,
                                                    std::size_t place);

/// The decision that the mask at this place goes back to: that of the round itself where each round decides
/// anew, else the last before it that took effect. None if no recorded decision chose it.
[[nodiscard]] std::optional<DecisionPlace> mask_decision(const DecisionHistory& history,
                                                         std::size_t run_index, std::size_t place);

/// "the mask changed in 5 of 24 sublayers from round 40's (61 % of the skipped in common), because of …". One
/// line; empty where it did not change.
[[nodiscard]] std::string mask_change_text(const DecisionHistory& history, std::size_t run_index,
                                           std::size_t place);

}  // namespace draftscope::gui
