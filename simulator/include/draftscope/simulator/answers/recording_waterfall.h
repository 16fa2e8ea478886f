// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The waterfall (waterfall.h) of a recording's texts on a machine, and each strategy as a share of the
// possible speedup.

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

/// A strategy compared with the oracle of early exits. Times are at the mean prices.
struct StrategyShare {
  std::string strategy;
  RoundSource source = RoundSource::recorded;
  AnswerStatus status = AnswerStatus::exact;
  double speedup = 0.0;  ///< Speedup with the fewest draft tokens.
  std::optional<double> speedup_max_drafted;
  RatioEstimate of_oracle;           ///< The oracle's time / the strategy's, with the fewest draft tokens.
  std::optional<double> efficiency;  ///< (S − 1) / (S oracle − 1); absent below min_oracle_gain.
  /// Whether it drafts with early exits and verifies as the oracle does. Others may beat the oracle
  /// (no_bound_note()).
  bool is_bounded = false;
};

/// A strategy without a share, with the reason.
struct UnsharedStrategy {
  std::string strategy;
  std::string reason;
};

struct RecordingWaterfall {
  Waterfall waterfall;
  VerifiedLayers verified_layers = VerifiedLayers::all;  ///< Verified layers of all its levels.
  double mean_context = 0.0;                             ///< Mean number of rows before a vanilla step.
  std::vector<StrategyShare> strategies;
  std::vector<UnsharedStrategy> unshared;
  std::vector<std::string> notes;  ///< Basis of the texts' acceptance, where it was not recorded on them.
};

/// `strategies` must come from WhatIf::rounds(). If exactly one of them uses early exits, it is the policy
/// under test. If any of them caches the draft's exit states, every level does (its verifications never cost
/// more). `longer_context` is as in lengthen_context(). Errors: no shadow tokens, sampled texts, and those of
/// waterfall() and of the prices. O(tokens · exits · (longest + folds · thresholds)).
[[nodiscard]] Result<RecordingWaterfall> recording_waterfall(const WhatIf& what_if,
                                                             const traces::Recording& recording,
                                                             const Machine& machine,
                                                             std::span<const StrategyRounds> strategies = {},
                                                             std::int32_t longer_context = 0,
                                                             const WaterfallOptions& options = {});

/// Step of a level, which the waterfall must have; every level but `policy` always exists.
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
/// Text like "exit 7 with 4 draft tokens" or "no speculation".
[[nodiscard]] std::string fixed_setting_text(const FixedSetting& setting);
/// Notes below the levels, one line each: the price of time on a machine of this batch, the best threshold,
/// the best setting of all prompts and of each category, and the notes of `found`.
[[nodiscard]] std::vector<std::string> waterfall_notes(const RecordingWaterfall& found, std::int32_t batch);
/// Gaps that the waterfall has, in order of its levels.
[[nodiscard]] std::vector<NamedGap> named_gaps(const WaterfallGaps& gaps);

}  // namespace draftscope::simulator
