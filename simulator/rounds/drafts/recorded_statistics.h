// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Statistics of recorded rounds for prices: the time of the same rounds elsewhere. They exist for every
// strategy that drafts with a part of the target, or without a model; the rounds themselves are facts.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

/// Draft of one recorded round.
struct RecordedDraft {
  std::int32_t number = 0;  ///< Index among the statistics' exits; 0 = nothing was drafted, a target step.
  std::int32_t steps = 0;   ///< Passes of the draft; 0 if no model drafted.
};

struct RecordedStatistics {
  std::vector<RoundStatistics> requests;             ///< [request of the run]
  std::vector<std::vector<RecordedDraft>> by_round;  ///< [request of the run][round]
  /// Sublayers that exit i + 1 of the statistics drafts with; empty if exits are exit layers.
  std::vector<speculation::DraftSublayers> drafts;
  std::vector<AuxiliaryPass> auxiliary_passes;  ///< Passes counted in RoundStatistics::auxiliary.
  std::optional<ModelShape> draft_model;        ///< Model that drafts for the target, if another one does.
  bool lacks_draft_model = false;  ///< Whether another model drafts, whose shape is not in the recording.
};

/// One request per prompt, from the first repeat that has it.
[[nodiscard]] RunRows first_repeat(const RunRows& run);

/// Target steps of the same text by vanilla decoding, which takes one to find an end token.
[[nodiscard]] PassCount vanilla_steps_of(const RequestRows& rows, std::int64_t emitted);

/// Tokens that the request's rounds emitted.
[[nodiscard]] std::int64_t emitted_tokens(const RequestRows& rows);

/// A set of all layers but those from `first` to `end` − 1.
[[nodiscard]] traces::LayerSet set_without(std::int32_t first, std::int32_t end, std::int32_t n_layers,
                                           std::int32_t exit_layer, std::string origin);

/// Whether the set consists of the complete layers 0 to its exit − 1.
[[nodiscard]] bool is_exit(const traces::LayerSet& set);

/// Statistics with auxiliary passes by the rules of the run's strategy and by which rounds spent time on
/// them. `sets` and `meta` are the recording's, `shape` its model's. Errors: rounds that refer to a missing
/// layer set, no round.
[[nodiscard]] Result<RecordedStatistics> recorded_statistics(const RunRows& run, const LayerSetsById& sets,
                                                             const traces::Meta& meta,
                                                             const ModelShape& shape);

}  // namespace draftscope::simulator
