// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the possible speedup goes: from no speculation up to what no policy can pass, level by level, on
// recorded texts and given prices. Each level has its own time for each request, so that any two compare on
// any resample of the requests.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/sweep.h>
#include <draftscope/simulator/prices/prices.h>
#include <draftscope/traces/ids.h>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace draftscope::simulator {

struct ShadowTable;

/// Each round drafts `length` tokens at exit layer `exit`; length 0 = no speculation, whatever the exit.
struct FixedSetting {
  std::int32_t exit = 0;
  std::int32_t length = 0;
};

/// Indices into Waterfall::settings; the first of equally fast ones.
struct BestSettings {
  std::size_t global = 0;
  std::map<std::string, std::size_t> by_category;
  std::vector<std::size_t> by_request;  ///< in hindsight: a bound, not a policy
};

/// Stops once a draft token's confidence is below the threshold; that token is verified all the same.
struct ConfidenceThreshold {
  std::int32_t exit = 0;     ///< 0 = no speculation
  std::int32_t longest = 0;  ///< draft tokens per round
  double threshold = 0.0;
};

/// Acceptance by confidence of one exit's drafts, in bins.
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

/// Tokens and time of some way of decoding, in total or in expectation.
struct Yield {
  double tokens = 0.0;
  double ns = 0.0;
};

/// The rule and what it is expected to yield in a round.
struct PricedRule {
  PrefixThreshold rule;  ///< no speculation if that yields more
  Yield round;
  double price = 0.0;  ///< λ*: tokens a nanosecond, the best ratio
};

enum class WaterfallLevel : std::uint8_t {
  vanilla,           ///< no speculation
  best_global,       ///< one fixed (E, γ), or none, for all requests
  best_by_category,  ///< one for each category
  best_by_request,   ///< one for each request, in hindsight
  policy,            ///< the one under test, if given
  single_threshold,  ///< one exit and confidence threshold; chosen on other requests
  causal_rule,       ///< the best causal rule on confidences (price_of_time.h); fitted on other requests
  oracle_length,   ///< the oracle's lengths at the exits that the policy used; without one, the best global E
  oracle_exit,     ///< the oracle's exits at the length of the best global setting that drafts
  oracle,          ///< the oracle's exits and lengths: the bound (oracle.h)
  free_drafts,     ///< the bound if draft steps cost nothing
  perfect_drafts,  ///< the bound if every draft token were accepted
};

/// "no speculation", "best global setting", …
[[nodiscard]] std::string_view waterfall_level_name(WaterfallLevel level);

/// A value with its 95 % percentile bootstrap interval over prompts. What was chosen or fitted stays as it is
/// in every resample.
struct WaterfallFigure {
  double value = 0.0;
  std::optional<Interval> interval;  ///< absent with fewer prompts than min_prompts_for_interval
};

struct WaterfallStep {
  WaterfallLevel level = WaterfallLevel::vanilla;
  /// Status of the rounds; their times are the cost model's. Perfect drafts are approximate: a thought
  /// experiment.
  AnswerStatus status = AnswerStatus::exact;
  std::vector<double> times_ns;  ///< by request
  WaterfallFigure speedup;       ///< total vanilla time / total time
  WaterfallFigure of_oracle;     ///< this speedup / the oracle's
  std::optional<WaterfallFigure>
      efficiency;  ///< (S − 1) / (S oracle − 1); absent where the oracle gains less than min_oracle_gain
  std::optional<Interval> bounds;  ///< the speedup's, where rounds are bounded
};

/// Gain of the oracle, S − 1, below which no share of it is given: it would be one of next to nothing.
inline constexpr double min_oracle_gain = 0.05;

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
  traces::PromptId prompt_id;  ///< requests of one prompt stay together, in folds and resamples
};

/// The policy under test, one entry a request.
struct WaterfallPolicy {
  std::vector<RoundStatistics> requests;
  AnswerStatus status = AnswerStatus::exact;
};

struct WaterfallOptions {
  // Both are widened to what the policy did, so that the oracle bounds it too.
  std::vector<std::int32_t> exits;  ///< empty = every exit with prices
  std::int32_t longest = 17;        ///< draft tokens per round
  std::int32_t folds = 5;
  std::int32_t bins = 8;
  /// Candidates of the single threshold.
  std::vector<double> thresholds{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98};
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
