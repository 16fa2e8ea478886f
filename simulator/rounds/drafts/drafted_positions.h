// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draft results at each position of a run's texts. A round shows that each accepted token is right, and that
// the first rejected one is wrong. The position of the bonus token after a fully accepted draft was not
// drafted.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "rounds/replay/acceptance_models.h"

namespace draftscope::simulator {

struct DraftedPosition {
  AcceptanceBit bit = AcceptanceBit::unseen;
  /// The draft's probability of its best token; NaN where none was recorded.
  double confidence = std::numeric_limits<double>::quiet_NaN();
  std::int32_t width = 1;  ///< Tokens that the step kept.
  /// Rank of the text's token among those that the step kept; -1 = it is none of them, or unseen.
  std::int32_t rank = -1;
  std::int32_t depth = 0;  ///< Tokens of its draft up to this one; 0 = unseen.
};

/// [position] of one request, starting at the first position that rounds draft; as many as its rounds emitted
/// tokens.
using DraftedPositions = std::vector<DraftedPosition>;

/// Positions as a chain would have drafted them; for a token tree, the first of the siblings at each depth of
/// the accepted path. If given, `length_of_all` is every draft's length, where a file has accepted lengths
/// only.
[[nodiscard]] DraftedPositions drafted_positions(const traces::Recording& recording, const RequestRows& rows,
                                                 std::optional<std::int32_t> length_of_all = {});

/// Confidences of the run's draft steps that came after a draft's first wrong token.
[[nodiscard]] std::vector<float> confidences_off_text(const traces::Recording& recording, const RunRows& run);

/// The bits only, for fitting models of acceptance.
[[nodiscard]] AcceptanceBits bits_at(const DraftedPositions& positions);

/// Fills positions that `positions` has not seen from `other`, of the same text.
void fill_unseen(const DraftedPositions& other, DraftedPositions& positions);

/// Draft tokens of the round, in the order of their indices; empty if the recording has none.
/// O(log(draft tokens)).
[[nodiscard]] std::span<const traces::DraftToken> draft_tokens_of(const traces::Recording& recording,
                                                                  traces::RoundId round_id);

}  // namespace draftscope::simulator
