// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a run's drafts said of each position of its texts. A round shows that each accepted token is right,
// and that the first rejected one is wrong; the position of the bonus token behind a draft that was accepted
// whole was not drafted.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rounds/replay/acceptance_models.h"

namespace draftscope::simulator {

struct DraftedPosition {
  AcceptanceBit bit = AcceptanceBit::unseen;
  /// The draft's probability of its best token; not a number where none was recorded.
  double confidence = std::numeric_limits<double>::quiet_NaN();
};

/// Positions of one request in order, the first that rounds draft first, as many as its rounds emitted
/// tokens.
using DraftedPositions = std::vector<DraftedPosition>;

/// Positions as a chain would have drafted them: of a token tree, the first of the siblings at each depth of
/// the accepted path. `length_of_all`, if given, is taken for every draft's length, where a file has accepted
/// lengths alone.
[[nodiscard]] DraftedPositions drafted_positions(const traces::Recording& recording, const RequestRows& rows,
                                                 std::optional<std::int32_t> length_of_all = {});

/// The bits alone, as models of acceptance are fitted to them.
[[nodiscard]] AcceptanceBits bits_at(const DraftedPositions& positions);

/// Takes from `other`, of the same text, what `positions` has not seen.
void fill_unseen(const DraftedPositions& other, DraftedPositions& positions);

}  // namespace draftscope::simulator
