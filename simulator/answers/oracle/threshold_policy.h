// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Policies that stop a draft by its confidences, replayed on a text: the single threshold of engines, and the
// rule that prices each further draft step (price_of_time.h).
//
// Committed tokens and round starts are exact. So are the drafts of a round that stopped at or before its
// first rejected token, whose confidence is still the table's. A rule that continued would have read
// confidences of a text that was never written. Those rounds are bounded, and modelled by the confidences at
// the same positions of the text.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/waterfall.h>
#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// One request's rounds under such a rule.
struct ThresholdRounds {
  RoundStatistics modelled;
  RoundStatistics least;  ///< Every bounded round stopped one draft token after its last known confidence.
  RoundStatistics most;   ///< Every bounded round drafted as much as allowed.
  std::int64_t bounded_rounds = 0;
  std::vector<std::int32_t> starts;  ///< [round]: its position

  [[nodiscard]] AnswerStatus status() const {
    return bounded_rounds == 0 ? AnswerStatus::exact : AnswerStatus::bounded;
  }
};

/// Replays a rule on a text. The table must have the rule's exit, and the rule an entry for each of its
/// positions and bins. O(tokens · longest). Errors: those of check().
[[nodiscard]] Result<ThresholdRounds> replay(const ShadowTable& table, const ConfidenceThreshold& rule);
[[nodiscard]] Result<ThresholdRounds> replay(const ShadowTable& table, const PrefixThreshold& rule);

/// One text to fit to, and the starts of rounds on it; no starts = all positions count equally.
struct ConfidenceSample {
  const ShadowTable* table = nullptr;
  std::span<const std::int32_t> starts;
};

/// Fits a model with bins of equally many confidences; fewer where confidences repeat. Small counts are
/// shrunk towards the exit's mean by one observation. The tables must have the exit. O(tokens · log tokens).
/// Errors: those of check(), no position to fit to.
[[nodiscard]] Result<ConfidenceModel> fit_confidence_model(std::span<const ConfidenceSample> samples,
                                                           std::int32_t exit, std::int32_t bins = 8);

}  // namespace draftscope::simulator
