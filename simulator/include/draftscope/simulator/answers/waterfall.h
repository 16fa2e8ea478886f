// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Waterfall of the possible speedup on recorded texts at given prices. Its levels go from no speculation up
// to the bound of all policies. Each level has a time per request, so that any two can be compared on any
// resample of the requests.

#include <draftscope/base/result.h>
#include <draftscope/simulator/analysis/run_rows.h>
#include <draftscope/simulator/analysis/speedup.h>
#include <draftscope/simulator/answers/prediction.h>
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

/// A setting that drafts `length` tokens at exit layer `exit` in each round; length 0 = no speculation,
/// whatever the exit.
struct FixedSetting {
  std::int32_t exit = 0;
  std::int32_t length = 0;
};

/// Indices into Waterfall::settings; ties take the first.
struct BestSettings {
  std::size_t global = 0;
  std::map<std::string, std::size_t> by_category;
  std::vector<std::size_t> by_request;  ///< Best in hindsight, which is a bound and not a policy.
};

/// A policy that stops once a draft token's confidence is below the threshold; that token is still verified.
struct ConfidenceThreshold {
  std::int32_t exit = 0;     ///< 0 = no speculation
  std::int32_t longest = 0;  ///< Maximum draft tokens per round.
  double threshold = 0.0;
};

/// Acceptance as a function of confidence for one exit's drafts, in bins.
struct ConfidenceModel {
  std::int32_t exit = 0;
  std::vector<double> edges;  ///< Ascending edges; the bin of a confidence is the number of edges ≤ it.
  std::vector<double> acceptance;  ///< [bin]: calibrated acceptance of a draft token, given that those before
                                   ///< it were accepted
  std::vector<double> start;       ///< [bin]: probability for a round's first draft token; sums to 1
  std::vector<std::vector<double>> next;  ///< [bin][bin]: transition to the next draft token; rows sum to 1

  [[nodiscard]] std::size_t bin(double confidence) const;
};

/// The causal rule. It multiplies the acceptances of the draft tokens so far and drafts once more if the
/// product is at least a threshold. The threshold depends on the number of draft tokens and on the last one's
/// bin.
struct PrefixThreshold {
  ConfidenceModel model;  ///< Exit 0 = no speculation.
  std::int32_t longest = 0;
  /// [drafted − 1][bin] for 1 ≤ drafted < longest; above 1 = always stop.
  std::vector<std::vector<double>> min_acceptance;
};

/// Tokens and time of some way of decoding, in total or in expectation.
struct Yield {
  double tokens = 0.0;
  double ns = 0.0;
};

/// A rule with its expected yield per round.
struct PricedRule {
  PrefixThreshold rule;  ///< No speculation if that yields more.
  Yield round;
  double price = 0.0;  ///< λ*: tokens per nanosecond, the best ratio.
};

enum class WaterfallLevel : std::uint8_t {
  vanilla,           ///< No speculation.
  best_global,       ///< One fixed (E, γ), or none, for all requests.
  best_by_category,  ///< One fixed setting per category.
  best_by_request,   ///< One fixed setting per request, in hindsight.
  policy,            ///< The policy under test, if given.
  single_threshold,  ///< One exit and confidence threshold; chosen on other requests.
  causal_rule,       ///< The best causal rule on confidences (price_of_time.h); fitted on other requests.
  oracle_length,   ///< The oracle's lengths at the exits that the policy used; without a policy, at the best
                   ///< global E.
  oracle_exit,     ///< The oracle's exits at the length of the best global setting that drafts.
  oracle,          ///< The oracle's exits and lengths: the bound (oracle.h).
  free_drafts,     ///< The bound if draft steps were free.
  perfect_drafts,  ///< The bound if every draft token were accepted.
};

/// "no speculation", "best global setting", …
[[nodiscard]] std::string_view waterfall_level_name(WaterfallLevel level);

/// A value with its 95 % percentile bootstrap interval over prompts. Chosen or fitted settings stay fixed in
/// every resample.
struct WaterfallFigure {
  double value = 0.0;
  std::optional<Interval> interval;  ///< Absent with fewer prompts than min_prompts_for_interval.
};

struct WaterfallStep {
  WaterfallLevel level = WaterfallLevel::vanilla;
  /// Status of the rounds; their times come from the cost model. Perfect drafts are approximate: a thought
  /// experiment.
  AnswerStatus status = AnswerStatus::exact;
  std::vector<double> times_ns;  ///< [request]
  WaterfallFigure speedup;       ///< Total vanilla time / total time.
  WaterfallFigure of_oracle;     ///< This speedup / the oracle's.
  std::optional<WaterfallFigure>
      efficiency;  ///< (S − 1) / (S oracle − 1); absent where the oracle gains less than min_oracle_gain.
  std::optional<Interval> bounds;  ///< Bounds of the speedup, where rounds are bounded.
};

/// Minimum gain of the oracle, S − 1, for which shares of it are given. Below it, a share would be
/// meaningless.
inline constexpr double min_oracle_gain = 0.05;

/// Differences of speedups; positive where the second of the two is faster.
struct WaterfallGaps {
  WaterfallFigure tuning;                   ///< Best global → best by request.
  WaterfallFigure information;              ///< Causal rule → oracle.
  std::optional<WaterfallFigure> learning;  ///< Policy → causal rule.
  WaterfallFigure hardware;                 ///< Oracle → free drafts.
};

struct Waterfall {
  std::vector<WaterfallStep> steps;  ///< Steps in order of the levels.
  WaterfallGaps gaps;
  std::vector<FixedSetting> settings;
  BestSettings best;  ///< Indices into `settings`.
  /// Fitted on all requests, for use; the levels' figures come from the folds.
  ConfidenceThreshold threshold;
  std::int32_t folds = 0;  ///< 1 = too few prompts, so rules were judged on their own prompts.
  double price = 0.0;      ///< λ* of the oracle, tokens per nanosecond.
};

struct WaterfallRequest {
  const ShadowTable* table = nullptr;
  std::string category;
  traces::PromptId prompt_id;  ///< Requests of one prompt stay together, in folds and resamples.
};

/// The policy under test, with one entry per request.
struct WaterfallPolicy {
  std::vector<RoundStatistics> requests;
  AnswerStatus status = AnswerStatus::exact;
};

struct WaterfallOptions {
  // Both are widened to include the policy's choices, so that the oracle bounds it too.
  std::vector<std::int32_t> exits;  ///< Empty = every exit with prices.
  std::int32_t longest = 17;        ///< Maximum draft tokens per round.
  std::int32_t folds = 5;
  std::int32_t bins = 8;
  /// Candidates of the single threshold.
  std::vector<double> thresholds{0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98};
  int resamples = 2000;
  /// Reports the parts done and the approximate total, frequently. If it returns false, the waterfall stops
  /// with an error.
  std::function<bool(std::int64_t done, std::int64_t all)> progress;
};

/// O(tokens · exits · (longest + folds · thresholds)). Errors: no request or none that decoded anything, a
/// policy with another number of requests, and those of the parts.
[[nodiscard]] Result<Waterfall> waterfall(std::span<const WaterfallRequest> requests, const Prices& prices,
                                          const WaterfallPolicy* policy = nullptr,
                                          const WaterfallOptions& options = {});

}  // namespace draftscope::simulator
