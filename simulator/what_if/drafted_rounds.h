// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Rounds of settings whose draft a run recorded: with another length or stop rule, or another schedule of its
// searches. Also of imported runs, which say how many tokens were accepted.

#include <span>
#include <vector>

#include "drafts/drafted_positions.h"
#include "drafts/drafted_table.h"
#include "what_if/trained_recording.h"

namespace draftscope::simulator {

/// What one run's draft said of its texts.
struct DraftedTexts {
  RunRows run;                       ///< first repeat of each prompt
  std::vector<DraftedTable> tables;  ///< [request of the run]
  bool has_confidences = false;
};

/// `positions` is [request of `run`]. Errors: no draft token that was judged.
[[nodiscard]] Result<DraftedTexts> drafted_texts(const TrainedRecording& trained, RunRows run,
                                                 const std::vector<DraftedPositions>& positions);

/// Whether a replayed round went by a position that was drawn.
[[nodiscard]] bool has_drawn(const DraftedTable& table, const ReplayedRound& round);

}  // namespace draftscope::simulator
