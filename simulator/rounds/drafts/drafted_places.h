// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Drafts whose first token is right more often than further ones: those of a next-token layer, which begins
// with the target's state and goes on from its own. A position that was drafted at one of these places is
// made right or wrong at the other as often as the recorded shares ask: as few tokens change as can.

#include <optional>
#include <span>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/drafts/drafted_table.h"

namespace draftscope::simulator {

/// Shares of right tokens among those that were judged.
struct PlaceShares {
  std::optional<double> first;    ///< Share of the first tokens; absent where none was judged.
  std::optional<double> further;  ///< Share of tokens after right ones; absent where none was judged.
  double all = 0.0;
};
[[nodiscard]] PlaceShares place_shares(std::span<const DraftedPositions> requests);

/// Gives the table a layer for further tokens (ShadowTable::has_further_layer). Where only one place was
/// recorded, both are taken to be alike.
void put_places(const DraftedPositions& positions, const PlaceShares& shares, const SeenSteps& seen,
                DraftedTable& drafted);

}  // namespace draftscope::simulator
