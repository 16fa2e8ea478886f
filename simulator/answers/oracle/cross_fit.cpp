// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/oracle/cross_fit.h"

#include <algorithm>
#include <map>

#include "answers/oracle/price_of_time.h"
#include "answers/oracle/threshold_policy.h"
#include "answers/oracle/waterfall_settings.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

namespace {

/// `fit(tables)` gives a rule that replay() knows.
template <typename Fit>
Result<CrossFitted> cross_fit(std::span<const WaterfallRequest> requests, const Prices& prices,
                              std::size_t folds, Fit fit) {
  const std::vector<std::size_t> prompts = prompt_numbers(requests);
  CrossFitted result;
  result.modelled_ns.resize(requests.size());
  result.min_ns.resize(requests.size());
  result.max_ns.resize(requests.size());
  for (std::size_t fold = 0; fold < folds; ++fold) {
    std::vector<const ShadowTable*> training;
    for (std::size_t i = 0; i < requests.size(); ++i)
      if (folds == 1 || prompts[i] % folds != fold) training.push_back(requests[i].table);
    DRAFTSCOPE_TRY_ASSIGN(const auto rule, fit(training));
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (prompts[i] % folds != fold) continue;
      DRAFTSCOPE_TRY_ASSIGN(const ThresholdRounds rounds, replay(*requests[i].table, rule));
      DRAFTSCOPE_TRY_ASSIGN(result.modelled_ns[i], checked_time_ns(rounds.modelled, prices));
      DRAFTSCOPE_TRY_ASSIGN(result.min_ns[i], checked_time_ns(rounds.least, prices));
      DRAFTSCOPE_TRY_ASSIGN(result.max_ns[i], checked_time_ns(rounds.most, prices));
      result.status = std::max(result.status, rounds.status());
    }
  }
  return result;
}

}  // namespace

std::vector<std::size_t> prompt_numbers(std::span<const WaterfallRequest> requests) {
  std::map<traces::PromptId, std::size_t> numbers;
  std::vector<std::size_t> result;
  result.reserve(requests.size());
  for (const WaterfallRequest& request : requests)
    result.push_back(numbers.emplace(request.prompt_id, numbers.size()).first->second);
  return result;
}

std::size_t fold_count(std::size_t prompts, std::int32_t wanted) {
  if (prompts < 2 || wanted < 2) return 1;
  return std::min(prompts, static_cast<std::size_t>(wanted));
}

Result<CrossFitted> cross_fit_prefix_rule(std::span<const WaterfallRequest> requests, const Prices& prices,
                                          const RuleSearch& search, std::size_t folds) {
  return cross_fit(requests, prices, folds,
                   [&](std::span<const ShadowTable* const> tables) -> Result<PrefixThreshold> {
                     DRAFTSCOPE_TRY_ASSIGN(PricedRule fitted, fit_prefix_rule(tables, prices, search));
                     return std::move(fitted.rule);
                   });
}

Result<CrossFitted> cross_fit_single_threshold(std::span<const WaterfallRequest> requests,
                                               const Prices& prices, const RuleSearch& search,
                                               std::size_t folds) {
  return cross_fit(requests, prices, folds, [&](std::span<const ShadowTable* const> tables) {
    return fit_single_threshold(tables, prices, search);
  });
}

}  // namespace draftscope::simulator
