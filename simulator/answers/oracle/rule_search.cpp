// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <limits>

#include "answers/oracle/price_of_time.h"
#include "answers/oracle/round_costs.h"
#include "answers/oracle/text_rounds.h"
#include "answers/oracle/waterfall_settings.h"

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

}  // namespace

Result<PricedRule> fit_prefix_rule(Tables tables, const Prices& prices, const RuleSearch& search) {
  DRAFTSCOPE_TRY(check(tables, search));
  const double context = mean_context(tables);
  const double plain_ns = plain_round(prices).at(context);
  PricedRule best{.rule = {}, .round = {.tokens = 1.0, .ns = plain_ns}, .price = 1.0 / plain_ns};
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

}  // namespace draftscope::simulator
