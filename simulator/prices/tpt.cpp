// SPDX-License-Identifier: GPL-3.0-or-later
#include "prices/tpt.h"

#include <cmath>

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

Result<double> time_true_speedup(const RoundStatistics& statistics, double vanilla_ns, const Prices& prices) {
  DRAFTSCOPE_TRY(check_covered(statistics, prices));
  const double rounds_ns = time_ns(statistics, prices);
  for (const double ns : {rounds_ns, vanilla_ns})
    if (!(ns > 0.0 && std::isfinite(ns)))
      return fail("time of the rounds and of vanilla decoding: found {} and {} ns, expected both above 0",
                  rounds_ns, vanilla_ns);
  return vanilla_ns / rounds_ns;
}

}  // namespace draftscope::simulator
