// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Policies that stop a draft by what its confidences say, replayed on a text: the single threshold that
// engines have, and the rule that prices each further draft step (price_of_time.h).
//
// Committed tokens and round starts are exact. So are the drafts of a round that stopped at or before its
// first rejected token, whose confidence still is the table's. Had the rule gone on from there, it would have
// read confidences of a text that was never written: those rounds are bounded, and modelled by the
// confidences that the same positions have in the text.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/answers/sweep.h>
#include <draftscope/simulator/answers/waterfall.h>
#include <cstdint>
#include <span>
#include <vector>

#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

/// One request's rounds under such a rule.
struct ThresholdRounds {
  RoundStatistics modelled;
  RoundStatistics
      least;  ///< every bounded round stopped one draft token after its confidences end to be known
  RoundStatistics most;  ///< every bounded round drafted as much as it was allowed to
  std::int64_t bounded_rounds = 0;
  std::vector<std::int32_t> starts;  ///< the position of each round

  [[nodiscard]] AnswerStatus status() const {
    return bounded_rounds == 0 ? AnswerStatus::exact : AnswerStatus::bounded;
  }
};

/// O(tokens · longest). Errors: a table whose cells don't fit its text, an exit out of range, a negative
/// length, a rule without an entry for each of its positions and bins.
[[nodiscard]] Result<ThresholdRounds> replay(const ShadowTable& table, const ConfidenceThreshold& rule);
[[nodiscard]] Result<ThresholdRounds> replay(const ShadowTable& table, const PrefixThreshold& rule);

/// One text to learn from, and where on it rounds start; no starts = every position alike.
struct ConfidenceSample {
  const ShadowTable* table = nullptr;
  std::span<const std::int32_t> starts;
};

/// Bins of equally many confidences; fewer where confidences repeat. Small counts are shrunk towards the
/// exit's mean by one observation. O(tokens · log tokens). Errors: as above, no position to learn from, fewer
/// than 1 bin.
[[nodiscard]] Result<ConfidenceModel> fit_confidence_model(std::span<const ConfidenceSample> samples,
                                                           std::int32_t exit, std::int32_t bins = 8);

}  // namespace draftscope::simulator
