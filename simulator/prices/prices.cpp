// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/result.h>
#include <draftscope/simulator/prices/prices.h>

#include <numeric>

namespace draftscope::simulator {

namespace {

Result<const DraftPrices*> prices_of(std::int32_t exit, const Prices& prices) {
  if (exit >= 1 && static_cast<std::size_t>(exit) < prices.drafts.size())
    return &prices.drafts[static_cast<std::size_t>(exit)];
  const std::size_t exits = prices.drafts.empty() ? 0 : prices.drafts.size() - 1;
  if (exits == 0) return fail("exit {}: found no prices of drafts, expected some", exit);
  return fail("exit {}: found no price, expected 1 to {}", exit, exits);
}

Result<void> check_width(std::size_t rows, std::int32_t exit, const DraftPrices& prices) {
  if (rows >= 2 && rows < prices.verify.size()) return {};
  return fail("verification of {} rows at exit {}: found no price, expected one", rows, exit);
}

}  // namespace

double planned_time_ns(const DraftStatistics& statistics, const DraftPrices& prices) {
  return std::inner_product(prices.planned_ns.begin(), prices.planned_ns.end(),
                            statistics.planned_beyond.begin(), 0.0);
}

double auxiliary_time_ns(const RoundStatistics& statistics, const Prices& prices) {
  double sum = static_cast<double>(statistics.host_ns) * prices.host_ratio;
  for (std::size_t i = 0; i < statistics.auxiliary.size(); ++i)
    sum += prices.auxiliary[i].of(statistics.auxiliary[i]);
  return sum;
}

double time_ns(const RoundStatistics& statistics, const Prices& prices) {
  const std::int64_t step_rounds = statistics.target_steps.passes;
  double sum = auxiliary_time_ns(statistics, prices) + prices.target_step.of(statistics.target_steps) +
               static_cast<double>(step_rounds) * prices.step_round_ns +
               static_cast<double>(statistics.rounds - step_rounds) * prices.round_ns;
  for (const DraftStatistics& draft : statistics.drafts) {
    const DraftPrices& price = prices.drafts[static_cast<std::size_t>(draft.exit)];
    sum += price.step.of(draft.steps) + planned_time_ns(draft, price);
    for (std::size_t rows = 0; rows < draft.verify.size(); ++rows)
      if (draft.verify[rows].passes > 0) sum += price.verify[rows].of(draft.verify[rows]);
  }
  return sum;
}

double vanilla_time_ns(const PassCount& steps, const Prices& prices) {
  return prices.target_step.of(steps) + static_cast<double>(steps.passes) * prices.step_round_ns;
}

double vanilla_time_ns(std::int64_t tokens, std::int64_t first_context, const Prices& prices) {
  return vanilla_time_ns(vanilla_steps(tokens, first_context), prices);
}

Result<void> check_covered(const RoundStatistics& statistics, const Prices& prices) {
  if (statistics.auxiliary.size() > prices.auxiliary.size())
    return fail("prices: found {} of own passes, expected the {} of the rounds", prices.auxiliary.size(),
                statistics.auxiliary.size());
  for (const DraftStatistics& draft : statistics.drafts) {
    DRAFTSCOPE_TRY_ASSIGN(const DraftPrices* const price, prices_of(draft.exit, prices));
    for (std::size_t rows = 0; rows < draft.verify.size(); ++rows)
      if (draft.verify[rows].passes > 0) DRAFTSCOPE_TRY(check_width(rows, draft.exit, *price));
  }
  return {};
}

}  // namespace draftscope::simulator
