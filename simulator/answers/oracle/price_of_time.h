// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Price of a nanosecond in tokens, and the best causal rule at that price.
//
// Minimum time for a text means maximum tokens per second. By Dinkelbach (1967) the best ratio λ* of tokens
// to time is where the maximum of tokens − λ · time is zero, so that each decision can be judged separately.
// One more draft step pays if the probability that it and all before it are accepted is at least λ* · (its
// step + the additional cost of the wider verification).

#include <draftscope/base/result.h>
#include <draftscope/simulator/answers/waterfall.h>
#include <draftscope/simulator/prices/prices.h>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "answers/oracle/threshold_policy.h"

namespace draftscope::simulator {

/// The maximum ratio of tokens to ns among responses: iterates λ ← ratio of the best response to λ until it
/// stops rising. `best_response` returns the maximum of tokens − λ · ns, with ns > 0; converges
/// superlinearly, from `start` ≤ λ* on.
[[nodiscard]] double dinkelbach(const std::function<Yield(double price)>& best_response, double start = 0.0);

/// The best causal rule for confidences that follow the model. It solves a Markov decision process over
/// (draft tokens so far, last one's bin, probability that all were accepted). That probability is the product
/// of the bins' acceptances, whose logarithms are rounded to 1/50. So states are finite and the answer is
/// exact for the rounded acceptances (which the returned rule's model contains). The solver is policy
/// iteration on the ratio, which is Dinkelbach's method. Rounds are priced at one mean context. Approximate:
/// confidences after a rejected token are assumed to follow the same chain. O(iterations · longest · bins² ·
/// 256). Errors: no price for some length up to `longest` (at least 1).
[[nodiscard]] Result<PricedRule> best_prefix_rule(const ConfidenceModel& model, const Prices& prices,
                                                  std::int32_t longest, double context);

/// Candidate rules.
struct RuleSearch {
  std::vector<std::int32_t> exits;
  std::int32_t longest = 17;
  std::int32_t bins = 8;
  std::vector<double> thresholds = WaterfallOptions{}.thresholds;  ///< Candidates of the single threshold.
  std::function<bool()> go_on = [] { return true; };  ///< Called after each text; false is an error.
};

/// Minimum modelled time over the texts, among the exits' best rules and no speculation. Each exit's rule is
/// refitted once to the starts of its own rounds, and the new rule is used if that helps. Errors: those of
/// best_prefix_rule().
[[nodiscard]] Result<PricedRule> fit_prefix_rule(std::span<const ShadowTable* const> tables,
                                                 const Prices& prices, const RuleSearch& search);

/// Minimum time over the texts among exits and thresholds of the single-threshold rule. O(tokens · exits ·
/// thresholds).
[[nodiscard]] Result<ConfidenceThreshold> fit_single_threshold(std::span<const ShadowTable* const> tables,
                                                               const Prices& prices,
                                                               const RuleSearch& search);

// Rules fitted on some prompts and judged on the others.

/// Times per request for rules that were fitted without the request's prompt.
struct CrossFitted {
  std::vector<double> modelled_ns;
  std::vector<double> min_ns;  ///< Time with the fewest drafts of the bounded rounds.
  std::vector<double> max_ns;
  AnswerStatus status = AnswerStatus::exact;
};

/// The dense number of each request's prompt, in order of appearance.
[[nodiscard]] std::vector<std::size_t> prompt_numbers(std::span<const WaterfallRequest> requests);

/// Number of folds; 1 if there are too few prompts for two.
[[nodiscard]] std::size_t fold_count(std::size_t prompts, std::int32_t wanted);

[[nodiscard]] Result<CrossFitted> cross_fit_prefix_rule(std::span<const WaterfallRequest> requests,
                                                        const Prices& prices, const RuleSearch& search,
                                                        std::size_t folds);
[[nodiscard]] Result<CrossFitted> cross_fit_single_threshold(std::span<const WaterfallRequest> requests,
                                                             const Prices& prices, const RuleSearch& search,
                                                             std::size_t folds);

}  // namespace draftscope::simulator
