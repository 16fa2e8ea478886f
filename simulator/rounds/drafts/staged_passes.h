// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Passes of drafts that several drafters made in turn, or a next-token layer. No layer set of a round
// describes them, so they come from the run's decisions.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/reader.h>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

/// [round]: its passes. A round whose draft is the next-token layer's has `next_token_step` alone, once.
using StagedPasses = std::unordered_map<traces::RoundId, std::vector<AuxiliaryPass>>;

/// A draft step of a next-token layer.
inline constexpr AuxiliaryPass next_token_step{
    .kind = AuxiliaryPassKind::next_token, .rows = 1, .attention = 1, .mlp = 1, .has_head = true};
[[nodiscard]] bool is_of_next_token_layer(const StagedPasses& staged, traces::RoundId round);

/// Adds the draft steps of a next-token layer in those rounds that it `drafts`, and its reads of states
/// before them.
void count_next_token_layer(const RequestRows& request,
                            const std::function<bool(const traces::Round&)>& drafts, AuxiliaryPasses& passes,
                            std::vector<PassCount>& counts);

/// Errors: unreadable decisions.
[[nodiscard]] Result<StagedPasses> staged_passes(traces::Reader& reader);

/// Adds the passes of a request's rounds to `counts`.
void count_staged_passes(const StagedPasses& staged, const RequestRows& request, AuxiliaryPasses& passes,
                         std::vector<PassCount>& counts);

/// Adds the passes of a run to its statistics. If there are any, the statistics must not have auxiliary
/// passes yet.
void add_staged_passes(const StagedPasses& staged, const RunRows& run, RecordedStatistics& statistics);

}  // namespace draftscope::simulator
