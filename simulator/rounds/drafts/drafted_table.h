// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Table that policies are replayed on (replay.h), made from the drafts of a run: layer 1 is the draft, layer
// 2 the target. Positions that the run did not draft are random draws. Whether the token is right comes from
// a model of acceptance, given all seen positions. Its confidence comes from those of seen tokens that were
// equally right or wrong.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// The draft's layer in a drafted table.
inline constexpr std::int32_t drafted_layer = 1;

struct DraftedTable {
  ShadowTable table;
  std::vector<bool> is_drawn;  ///< [position − table.first]
  /// [position − table.first]: width up to which it is known whether a step keeps the right token.
  std::vector<std::int32_t> known_width;
};

/// Seen positions: confidences by whether the token was right, and ranks that wider steps found.
struct SeenSteps {
  std::vector<float> right, wrong;
  /// [width of a step]: ranks of the right token at wider steps whose first `width` tokens were wrong; -1 =
  /// beyond the wider step, too.
  std::map<std::int32_t, std::vector<std::int32_t>> ranks_beyond;
  bool has_siblings = false;  ///< Whether any step kept more than one token.

  [[nodiscard]] bool has_confidences() const { return !right.empty() || !wrong.empty(); }
};
[[nodiscard]] SeenSteps seen_steps(std::span<const DraftedPositions> requests);

/// Table of one request. Without any confidence all are 1. A wrong token whose right one was beyond the
/// step's width gets the rank of a wider step's right one. The same request of the same recording gives the
/// same draws.
[[nodiscard]] DraftedTable drafted_table(const RequestRows& rows, const DraftedPositions& positions,
                                         const AcceptanceModel& model, const SeenSteps& seen);

// Drafts whose first token is right more often than further ones: those of a next-token layer, which begins
// with the target's state and goes on from its own. A position that was drafted at one of these places is
// made right or wrong at the other as often as the recorded shares ask: as few tokens change as can.

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
