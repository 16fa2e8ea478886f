// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recorded rounds as prices need them: what the same rounds would take elsewhere. Every strategy that drafts
// with a part of the target, or without a model, can be asked so; which rounds there are is a fact.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace draftscope::simulator {

/// Draft of one recorded round.
struct RecordedDraft {
  std::int32_t number = 0;  ///< among the statistics' exits; 0 = nothing was drafted, a target step
  std::int32_t steps = 0;   ///< passes of the draft; 0 if no model drafted
};

struct RecordedStatistics {
  std::vector<RoundStatistics> requests;             ///< [request of the run]
  std::vector<std::vector<RecordedDraft>> by_round;  ///< [request of the run][round]
  /// Sublayers that exit i + 1 of the statistics drafts with; empty if exits are exit layers.
  std::vector<speculation::DraftSublayers> drafts;
  std::vector<AuxiliaryPass> auxiliary_passes;  ///< that the statistics count (RoundStatistics::auxiliary)
  std::optional<ModelShape> draft_model;        ///< that drafts beside the target, where another does
  bool lacks_draft_model = false;               ///< another does, and the recording does not have its shape
};

/// One request a prompt, of the first repeat that has it.
[[nodiscard]] RunRows first_repeat(const RunRows& run);

using LayerSetsById = std::unordered_map<traces::LayerSetId, const traces::LayerSet*>;

/// Those of a recording, which must outlive them.
[[nodiscard]] LayerSetsById layer_sets_by_id(const traces::Recording& recording);

/// Whether the set leaves out a sublayer, 2 · layer for its attention and one more for its MLP.
[[nodiscard]] bool is_skipped(const traces::LayerSet& set, std::int32_t sublayer);

/// Whether the set runs layers 0 to its exit − 1 whole and none else.
[[nodiscard]] bool is_exit(const traces::LayerSet& set);

/// Auxiliary passes by the rules of the run's strategy and by which rounds took time for them. `sets` and
/// `meta` are the recording's, `shape` its model's. Errors: rounds that refer to a missing layer set, no
/// round.
[[nodiscard]] Result<RecordedStatistics> recorded_statistics(const RunRows& run, const LayerSetsById& sets,
                                                             const traces::Meta& meta,
                                                             const ModelShape& shape);

}  // namespace draftscope::simulator
