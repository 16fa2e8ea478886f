// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes of drafts that several drafters made in turn. No layer set of a round describes them, so they come
// from the run's decisions.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/reader.h>
#include <span>
#include <unordered_map>
#include <vector>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

using StagedPasses = std::unordered_map<traces::RoundId, std::vector<AuxiliaryPass>>;

/// Errors: unreadable decisions.
[[nodiscard]] Result<StagedPasses> staged_passes(traces::Reader& reader);

/// Adds the passes of a request's rounds to `counts`.
void count_staged_passes(const StagedPasses& staged, const RequestRows& request, AuxiliaryPasses& passes,
                         std::vector<PassCount>& counts);

/// Adds the passes of a run to its statistics. If there are any, the statistics must not have auxiliary
/// passes yet.
void add_staged_passes(const StagedPasses& staged, const RunRows& run, RecordedStatistics& statistics);

}  // namespace draftscope::simulator
