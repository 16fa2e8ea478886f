// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>
#include <map>

#include "answers/oracle/oracle.h"
#include "answers/oracle/price_of_time.h"
#include "answers/oracle/text_rounds.h"
#include "answers/oracle/threshold_policy.h"
#include "rounds/replay/shadow_table.h"

namespace draftscope::simulator {

namespace {

using Tables = std::span<const ShadowTable* const>;

/// The mean root position of target steps over all texts.
double mean_context(Tables tables) {
  double steps = 0.0;
  double context = 0.0;
  for (const ShadowTable* table : tables) {
    const double count = finish(*table) - table->first;
    steps += count;
    context += count * (table->first - 1 + (count - 1.0) / 2.0);
  }
  return steps > 0.0 ? context / steps : 0.0;
}

struct Replayed {
  double ns = 0.0;
  std::vector<std::vector<std::int32_t>> starts;  ///< [text]
};

template <typename Rule>
Result<Replayed> replay_all(Tables tables, const Rule& rule, const Prices& prices, const RuleSearch& search) {
  Replayed all;
  for (const ShadowTable* table : tables) {
    DRAFTSCOPE_TRY_ASSIGN(ThresholdRounds rounds, replay(*table, rule));
    DRAFTSCOPE_TRY_ASSIGN(const double ns, checked_time_ns(rounds.modelled, prices));
    all.ns += ns;
    all.starts.push_back(std::move(rounds.starts));
    if (!search.go_on()) return fail("rule search: stopped");
  }
  return all;
}

Result<void> check(Tables tables, const RuleSearch& search) {
  for (const ShadowTable* table : tables) DRAFTSCOPE_TRY(check(*table));
  if (search.longest < 1)
    return fail("rule search: longest draft is {}, expected at least 1", search.longest);
  return {};
}

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

Result<PricedRule> fit_prefix_rule(Tables tables, const Prices& prices, const RuleSearch& search) {
  DRAFTSCOPE_TRY(check(tables, search));
  const double context = mean_context(tables);
  const double plain_ns = plain_round(prices).at(context);
  PricedRule best{.rule = {}, .round = {.tokens = 1.0, .ns = plain_ns}, .price = 1.0 / plain_ns};
  const auto has_positions = [](const ShadowTable* table) { return table->first < table->end(); };
  if (std::ranges::none_of(tables, has_positions)) return best;  // Texts of one token teach nothing.
  double best_ns = 0.0;
  for (const ShadowTable* table : tables) best_ns += vanilla_time_ns(*table, prices);
  std::vector<ConfidenceSample> samples;
  for (const std::int32_t exit : search.exits) {
    samples.clear();
    for (const ShadowTable* table : tables) samples.push_back({table, {}});
    Replayed replayed;
    for (int fit = 0; fit < 2; ++fit) {
      DRAFTSCOPE_TRY_ASSIGN(const ConfidenceModel model, fit_confidence_model(samples, exit, search.bins));
      DRAFTSCOPE_TRY_ASSIGN(PricedRule rule, best_prefix_rule(model, prices, search.longest, context));
      if (rule.rule.model.exit == 0) break;
      DRAFTSCOPE_TRY_ASSIGN(replayed, replay_all(tables, rule.rule, prices, search));
      if (replayed.ns < best_ns) {
        best_ns = replayed.ns;
        best = std::move(rule);
      }
      for (std::size_t i = 0; i < samples.size(); ++i) samples[i].starts = replayed.starts[i];
    }
  }
  return best;
}

Result<ConfidenceThreshold> fit_single_threshold(Tables tables, const Prices& prices,
                                                 const RuleSearch& search) {
  DRAFTSCOPE_TRY(check(tables, search));
  ConfidenceThreshold best;
  double best_ns = 0.0;
  for (const ShadowTable* table : tables) best_ns += vanilla_time_ns(*table, prices);
  for (const std::int32_t exit : search.exits) {
    for (const double threshold : search.thresholds) {
      const ConfidenceThreshold rule{.exit = exit, .longest = search.longest, .threshold = threshold};
      DRAFTSCOPE_TRY_ASSIGN(const Replayed replayed, replay_all(tables, rule, prices, search));
      if (replayed.ns >= best_ns) continue;
      best_ns = replayed.ns;
      best = rule;
    }
  }
  return best;
}

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
