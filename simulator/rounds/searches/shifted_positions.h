// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draft results of a draft that agrees less or more often than the recorded one: tokens turn wrong or right
// in the order of their confidence.

#include <cstdint>
#include <vector>

#include "rounds/drafts/drafted_positions.h"
#include "rounds/searches/tried_sets.h"

namespace draftscope::simulator {

/// Positions that a run's drafts saw, and the number of right ones.
struct Seen {
  double judged = 0.0;
  double right = 0.0;

  /// −ln of the share of right ones, which is never quite 0 or 1.
  [[nodiscard]] double cost() const;
};

void add(const DraftedPosition& position, Seen& seen);
[[nodiscard]] Seen seen_of(const std::vector<DraftedPositions>& requests);

/// Positions whose agreement changes together, [request][position] of those shifted.
struct PositionGroups {
  static constexpr std::int32_t as_seen = -1;

  std::vector<std::vector<std::int32_t>> group;  ///< Index into `agreement`, or as_seen.
  std::vector<ExpectedAgreement> agreement;
};

/// Number of positions of each group that were seen.
[[nodiscard]] std::vector<Seen> seen_by_group(const std::vector<DraftedPositions>& requests,
                                              const PositionGroups& groups);

/// Positions of which this share of each group, [group], is right: as the draft agrees less often, its least
/// confident tokens turn wrong first.
[[nodiscard]] std::vector<DraftedPositions> shifted(std::vector<DraftedPositions> requests,
                                                    const PositionGroups& groups,
                                                    const std::vector<double>& agreement);

/// One group of all positions.
[[nodiscard]] PositionGroups one_group(const std::vector<DraftedPositions>& requests,
                                       const ExpectedAgreement& agreement);

}  // namespace draftscope::simulator
