// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Alternative acceptance of a recorded run at a temperature: token by token instead of as a block, or the
// reverse. The other law (prices/closed_forms.h) judges the recorded drafts, from the target and draft
// probabilities of their tokens.

#include <draftscope/base/result.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/reader.h>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

struct TrainedRecording;

/// Target probabilities of the tokens of drawn drafts, in order, as `record --shadow` stores them.
using TargetProbabilities = std::unordered_map<traces::RoundId, std::vector<double>>;

/// Errors: unreadable decisions.
[[nodiscard]] Result<TargetProbabilities> target_probabilities(traces::Reader& reader);

/// Finds the run whose strategy differs only in its acceptance, in a recording where that changes the draws;
/// null if there is none.
[[nodiscard]] const RunRows* accepted_otherwise(const TrainedRecording& trained,
                                                const speculation::StrategySpecification& strategy);

/// The run's rounds with the number of tokens that the strategy's acceptance is expected to accept of its
/// drafts. Approximate, since the texts are other draws of the same law. Without target probabilities the
/// rounds are unchanged, and a note says so. Errors: those of recorded_rounds().
[[nodiscard]] Result<StrategyRounds> rounds_accepted_otherwise(
    const TrainedRecording& trained, const RunRows& run, const speculation::StrategySpecification& strategy,
    std::string_view text);

}  // namespace draftscope::simulator
