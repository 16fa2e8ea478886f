// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <vector>

#include "rounds/replay/known_round.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

struct KnownRequest {
  const traces::Request* request = nullptr;  ///< Request whose text it is.
  const traces::Prompt* prompt = nullptr;
  std::vector<KnownRound> rounds;
};

/// Rounds one by one, per request as in `rounds`. The caller must apply other contexts and shapes. Errors:
/// rounds that are modelled, an imported recording.
[[nodiscard]] Result<std::vector<KnownRequest>> known_rounds(const TrainedRecording& trained,
                                                             const StrategyRounds& rounds);

}  // namespace draftscope::simulator
