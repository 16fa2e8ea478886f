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
#include <draftscope/simulator/figures/round_statistics.h>
#include <draftscope/simulator/replay/answer_status.h>
#include <draftscope/simulator/replay/shadow_table.h>
#include <cstdint>
#include <span>
#include <vector>

namespace draftscope::simulator {

/// Stops once a draft token's confidence is below the threshold; that token is verified all the same.
struct ConfidenceThreshold {
  std::int32_t exit = 0;     ///< 0 = no speculation
  std::int32_t longest = 0;  ///< draft tokens a round
  double threshold = 0.0;
};

/// What confidences of one exit's drafts tell, in bins.
struct ConfidenceModel {
  std::int32_t exit = 0;
  std::vector<double> edges;       ///< ascending; a confidence is in the bin of as many edges as are ≤ it
  std::vector<double> acceptance;  ///< [bin] of a draft token, if those before it were accepted; calibrated
  std::vector<double> start;       ///< [bin] of a round's first draft token, sums to 1
  std::vector<std::vector<double>> next;  ///< [bin][bin] from one draft token to the next, rows sum to 1

  [[nodiscard]] std::size_t bin(double confidence) const;
};

/// The causal rule: multiplies the acceptances of the draft tokens so far and drafts once more if the product
/// is at least a threshold, which depends on how many there are and on the last one's bin.
struct PrefixThreshold {
  ConfidenceModel model;  ///< exit 0 = no speculation
  std::int32_t longest = 0;
  /// [drafted − 1][bin] for 1 ≤ drafted < longest; above 1 = never go on.
  std::vector<std::vector<double>> min_acceptance;
};

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
