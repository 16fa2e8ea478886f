// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes of drafts that several drafters made in turn, which no layer set of a round tells: as the run's
// decisions have them.

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

/// Adds those of a request's rounds to `counts`.
void count_staged_passes(const StagedPasses& staged, const RequestRows& request, AuxiliaryPasses& passes,
                         std::vector<PassCount>& counts);

/// Adds those of a run to its statistics, which have no auxiliary passes yet if it has any.
void add_staged_passes(const StagedPasses& staged, const RunRows& run, RecordedStatistics& statistics);

}  // namespace draftscope::simulator
