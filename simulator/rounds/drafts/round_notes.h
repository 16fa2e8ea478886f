// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What strategies noted of their rounds as decisions (traces/SCHEMA.md): what the target said about guesses
// of `jacobi`, n-grams of `lookahead`, and the target's probabilities of drawn drafts.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "rounds/drafts/auxiliary_work.h"
#include "rounds/drafts/recorded_statistics.h"

namespace draftscope::simulator {

/// Token lists by round and name.
using NotedTokens =
    std::unordered_map<traces::RoundId, std::map<std::string, std::vector<std::int32_t>, std::less<>>>;

/// Token lists of kind `guesses` and `n-grams`. Errors: those of the reader.
[[nodiscard]] Result<NotedTokens> noted_tokens(traces::Reader& reader);

/// Target probabilities of the tokens of drawn drafts, in order, as `record --shadow` stores them.
using TargetProbabilities = std::unordered_map<traces::RoundId, std::vector<double>>;

/// Errors: those of the reader.
[[nodiscard]] Result<TargetProbabilities> target_probabilities(traces::Reader& reader);

// Passes of drafts that several drafters made in turn, or a next-token layer. No layer set of a round
// describes them, so they come from the run's decisions.

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
