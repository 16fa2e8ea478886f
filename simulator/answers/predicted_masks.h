// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which sublayers drafts of predicted rounds run, as rows of the trace.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/what_if.h>
#include <draftscope/traces/reader.h>
#include <cstdint>
#include <unordered_map>

#include "rounds/known_rounds.h"

namespace draftscope::simulator {

class PredictedMasks {
 public:
  /// All of them must outlive this.
  PredictedMasks(const traces::Recording& recording, std::int32_t asked_layers);

  /// Mask of a round of `rounds`; n_layers is 0 if no model drafted. Errors: which sublayers a draft skips is
  /// not known for a model with another number of layers, unless it is an exit.
  [[nodiscard]] Result<traces::LayerSet> mask_of(const StrategyRounds& rounds, const KnownRound& round) const;

 private:
  std::unordered_map<traces::LayerSetId, const traces::LayerSet*> recorded_;
  std::int32_t asked_layers_;
};

}  // namespace draftscope::simulator
