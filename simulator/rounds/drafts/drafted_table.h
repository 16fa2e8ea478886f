// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Table that policies are replayed on (replay.h), made from the drafts of a run: layer 1 is the draft, layer
// 2 the target. Positions that the run did not draft are random draws. Whether the token is right comes from
// a model of acceptance, given all seen positions. Its confidence comes from those of seen tokens that were
// equally right or wrong.

#include <cstdint>
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
};

/// Confidences of seen positions, by whether the token was right.
struct SeenConfidences {
  std::vector<float> right, wrong;

  [[nodiscard]] bool empty() const { return right.empty() && wrong.empty(); }
};
[[nodiscard]] SeenConfidences seen_confidences(std::span<const DraftedPositions> requests);

/// Table of one request. Without any confidence all are 1. The same request of the same recording gives the
/// same draws.
[[nodiscard]] DraftedTable drafted_table(const RequestRows& rows, const DraftedPositions& positions,
                                         const AcceptanceModel& model, const SeenConfidences& confidences);

}  // namespace draftscope::simulator
