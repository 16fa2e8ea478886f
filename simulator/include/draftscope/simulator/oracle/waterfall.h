// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the possible speedup goes: from no speculation up to what no policy can pass, level by level, on
// recorded texts and given prices. Each level has its own time for each request, so that any two compare on
// any resample of the requests.

#include <draftscope/base/result.h>
#include <draftscope/simulator/closed_forms/prices.h>
#include <draftscope/simulator/figures/round_statistics.h>
#include <draftscope/simulator/oracle/price_of_time.h>
#include <draftscope/simulator/oracle/waterfall_settings.h>
#include <draftscope/simulator/replay/answer_status.h>
#include <draftscope/simulator/replay/shadow_table.h>
#include <draftscope/simulator/uncertainty/resampling.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

enum class WaterfallLevel : std::uint8_t {
  vanilla,           ///< no speculation
  best_global,       ///< one fixed (E, γ), or none, for all requests
  best_by_category,  ///< one for each category
  best_by_request,   ///< one for each request, in hindsight
  policy,            ///< the one under test, if given
  single_threshold,  ///< one exit and confidence threshold; chosen on other requests
  causal_rule,       ///< the best causal rule on confidences (price_of_time.h); fitted on other requests
  oracle_length,   ///< clairvoyant lengths at the exits that the policy used; without one, the best global E
  oracle_exit,     ///< clairvoyant exits at the length of the best global setting that drafts
  oracle,          ///< clairvoyant exits and lengths: the bound (oracle.h)
  free_drafts,     ///< the bound if draft steps cost nothing
  perfect_drafts,  ///< the bound if every draft token were accepted
};

/// "no speculation", "best global setting", …
[[nodiscard]] std::string_view waterfall_level_name(WaterfallLevel level);

/// A value with its 95 % percentile bootstrap interval over prompts. What was chosen or fitted stays as it is
/// in every resample.
struct WaterfallFigure {
  double value = 0.0;
  std::optional<Quantiles> interval;  ///< absent with fewer prompts than min_prompts_for_interval
};

struct WaterfallStep {
  WaterfallLevel level = WaterfallLevel::vanilla;
  /// Of the rounds; their times are the cost model's. Perfect drafts are approximate: a thought experiment.
  AnswerStatus status = AnswerStatus::exact;
  std::vector<double> times_ns;  ///< by request
  WaterfallFigure speedup;       ///< total vanilla time / total time
  WaterfallFigure of_oracle;     ///< this speedup / the oracle's
  std::optional<WaterfallFigure>
      efficiency;                   ///< (S − 1) / (S oracle − 1); absent where the oracle gains nothing
  std::optional<Quantiles> bounds;  ///< the speedup's, where rounds are bounded
};

/// Differences of speedups; positive where the second of the two is faster.
struct WaterfallGaps {
  WaterfallFigure tuning;                   ///< best global → best by request
  WaterfallFigure information;              ///< causal rule → oracle
  std::optional<WaterfallFigure> learning;  ///< policy → causal rule
  WaterfallFigure hardware;                 ///< oracle → free drafts
};

struct Waterfall {
  std::vector<WaterfallStep> steps;  ///< in the order of the levels
  WaterfallGaps gaps;
  std::vector<FixedSetting> settings;
  BestSettings best;  ///< indices into `settings`
  /// Fitted on all requests: what to use. The levels' figures are from the folds.
  PricedRule rule;
  ConfidenceThreshold threshold;
  std::int32_t folds = 0;  ///< 1 = too few prompts: rules were judged on what they were fitted on
  double price = 0.0;      ///< λ* of the oracle, tokens a nanosecond
};

struct WaterfallRequest {
  const ShadowTable* table = nullptr;
  std::string category;
  std::int64_t prompt = 0;  ///< requests of one prompt stay together, in folds and resamples
};

/// The policy under test, one entry a request.
struct WaterfallPolicy {
  std::vector<RoundStatistics> requests;
  AnswerStatus status = AnswerStatus::exact;
};

struct WaterfallOptions {
  // Both are widened to what the policy did, so that the oracle bounds it too.
  std::vector<std::int32_t> exits;  ///< empty = every exit with prices
  std::int32_t longest = 17;        ///< draft tokens a round
  std::int32_t folds = 5;
  std::int32_t bins = 8;
  std::vector<double> thresholds = RuleSearch{}.thresholds;
  int resamples = 2000;
  /// Told of parts done, and about how many there are, often enough to stop by returning false: the waterfall
  /// then fails.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// O(tokens · exits · (longest + folds · thresholds)). Errors: no request or none that decoded anything, a
/// policy with another number of requests, and those of the parts.
[[nodiscard]] Result<Waterfall> waterfall(std::span<const WaterfallRequest> requests, const Prices& prices,
                                          const WaterfallPolicy* policy = nullptr,
                                          const WaterfallOptions& options = {});

}  // namespace draftscope::simulator
