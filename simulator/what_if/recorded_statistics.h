// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Recorded rounds as prices need them: what the same rounds would take elsewhere. Every strategy that drafts
// with a part of the target, or without a model, can be asked so; which rounds there are is a fact.

#include <draftscope/base/result.h>
#include <draftscope/simulator/figures/round_statistics.h>
#include <draftscope/simulator/figures/run_rows.h>
#include <draftscope/simulator/hardware/scenario.h>
#include <cstdint>
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
  /// Time of the recording that went to searching for better parameters, before the first round too, a round
  /// that drafted; no price of a pass covers it.
  double optimise_ns_per_round = 0.0;
};

/// One request a prompt, of the first repeat that has it.
[[nodiscard]] RunRows first_repeat(const RunRows& run);

/// `layer_sets` are the recording's. Errors: rounds that refer to a missing layer set, drafts by a second
/// model (their costs are not the target's), no round.
[[nodiscard]] Result<RecordedStatistics> recorded_statistics(const RunRows& run,
                                                             const std::vector<traces::LayerSet>& layer_sets);

}  // namespace draftscope::simulator
