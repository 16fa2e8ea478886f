// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The rule of `auto` (draftscope/speculation/auto/auto_rule.h) run over recorded texts, request by request as
// the engine runs it, with the times that prices give its rounds. What it learns it keeps.

#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/speculation/auto/auto_rule.h>
#include <cstdint>
#include <vector>

#include "rounds/auto_texts.h"
#include "rounds/replay/replay.h"

namespace draftscope::simulator {

/// Rounds by what they drafted with.
struct AutoCounts {
  std::int64_t vanilla = 0;
  std::int64_t text = 0;
  std::vector<std::int64_t> by_drafter;
  std::int64_t drawn = 0;  ///< rounds of drafters that went by a drawn position
};

struct SimulatedAuto {
  /// [text]. Draft i + 1 is drafter i; the draft behind the drafters' is a guess, which no model drafts.
  std::vector<RoundStatistics> requests;
  AutoCounts counts;
};

/// Prices that cover the drafters', the guess's, and verifications of a row more than the longest draft.
/// `host_ns`: that the recorded machine's host takes beside passes, per round. O(text · drafters · longest
/// draft).
[[nodiscard]] SimulatedAuto simulate_auto(const AutoTexts& texts, const speculation::AutoOptions& options,
                                          const ReplayConditions& conditions, const Prices& prices,
                                          double host_ns);

}  // namespace draftscope::simulator
