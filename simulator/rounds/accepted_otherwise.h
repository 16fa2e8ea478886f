// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The other acceptance of a recorded run at a temperature: token by token instead of as a block, or the other
// way round. The recorded drafts are judged by the other law (prices/closed_forms.h), from what
// target and draft gave their tokens.

#include <draftscope/base/result.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/traces/reader.h>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

struct TrainedRecording;

/// The target's probabilities of the tokens of drawn drafts, in their order, as `record --shadow` keeps them.
using TargetProbabilities = std::unordered_map<traces::RoundId, std::vector<double>>;

/// Errors: unreadable decisions.
[[nodiscard]] Result<TargetProbabilities> target_probabilities(traces::Reader& reader);

/// The run whose strategy is this one but for its acceptance, in a recording whose draws that changes; null
/// if there is none.
[[nodiscard]] const RunRows* accepted_otherwise(const TrainedRecording& trained,
                                                const speculation::StrategySpecification& strategy);

/// The run's rounds with as many more or fewer tokens as the strategy's acceptance is expected to keep of its
/// drafts. Approximate: the texts are other draws of the same law. Without probabilities of the target the
/// rounds are the run's, which a note says. Errors: as recorded_rounds().
[[nodiscard]] Result<StrategyRounds> rounds_accepted_otherwise(
    const TrainedRecording& trained, const RunRows& run, const speculation::StrategySpecification& strategy,
    std::string_view text);

}  // namespace draftscope::simulator
