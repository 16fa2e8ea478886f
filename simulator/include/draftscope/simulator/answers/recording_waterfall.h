// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The waterfall (waterfall.h) of a recording's texts on a machine, and each strategy as a share of what was
// possible.

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/prediction.h>
#include <draftscope/simulator/answers/waterfall.h>
#include <draftscope/simulator/answers/what_if.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

/// A strategy beside the oracle of early exits. Times at the means of the prices.
struct StrategyShare {
  std::string strategy;
  RoundSource source = RoundSource::recorded;
  AnswerStatus status = AnswerStatus::exact;
  double speedup = 0.0;  ///< with the fewest draft tokens
  std::optional<double> speedup_max_drafted;
  RatioEstimate of_oracle;           ///< the oracle's time / the strategy's, with the fewest draft tokens
  std::optional<double> efficiency;  ///< (S − 1) / (S oracle − 1); absent below min_oracle_gain
  /// It drafts with early exits and verifies as the oracle does. Others may beat the oracle
  /// (no_bound_note()).
  bool is_bounded = false;
};

/// Why a strategy has no share.
struct UnsharedStrategy {
  std::string strategy;
  std::string reason;
};

struct RecordingWaterfall {
  Waterfall waterfall;
  VerifiedLayers verified_layers = VerifiedLayers::all;  ///< of all its levels
  double mean_context = 0.0;                             ///< rows before a vanilla step
  std::vector<StrategyShare> strategies;
  std::vector<UnsharedStrategy> unshared;
  std::vector<std::string> notes;  ///< what the texts' acceptance rests on, where it is not theirs
};

/// `strategies` as WhatIf::rounds() gives them. A single one of early exits is the policy under test; if any
/// of them keeps the draft's exit states, every level does (its verifications never cost more).
/// `longer_context` as in lengthen_context(). Errors: no shadow tokens, sampled texts, and those of
/// waterfall() and of the prices. O(tokens · exits · (longest + folds · thresholds)).
[[nodiscard]] Result<RecordingWaterfall> recording_waterfall(const WhatIf& what_if,
                                                             const traces::Recording& recording,
                                                             const Machine& machine,
                                                             std::span<const StrategyRounds> strategies = {},
                                                             std::int32_t longer_context = 0,
                                                             const WaterfallOptions& options = {});

/// Expects a level that the waterfall has: all but `policy` always.
[[nodiscard]] const WaterfallStep& step_at(const Waterfall& waterfall, WaterfallLevel level);

/// One of a waterfall's gaps.
struct NamedGap {
  std::string_view name;  ///< "tuning", "information", "learning", "hardware"
  WaterfallFigure figure;
};
/// Meaning of a gap, in a few words.
[[nodiscard]] std::string_view gap_meaning(std::string_view name);
/// Note for a share that is not bounded.
[[nodiscard]] std::string_view no_bound_note();
/// Notes below the levels, one line each: the price of time on a machine of this batch, the best
/// threshold, and the notes of `found`.
[[nodiscard]] std::vector<std::string> waterfall_notes(const RecordingWaterfall& found, std::int32_t batch);
/// Those that the waterfall has, in the order of its levels.
[[nodiscard]] std::vector<NamedGap> named_gaps(const WaterfallGaps& gaps);

}  // namespace draftscope::simulator
