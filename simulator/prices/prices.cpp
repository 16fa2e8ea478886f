// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/prices.h>

#include <algorithm>

namespace draftscope::simulator {

namespace {

double time_of(const PassCount& passes, const AffineTime& time) {
  return static_cast<double>(passes.passes) * time.ns +
         static_cast<double>(passes.context) * time.ns_per_context_row;
}

}  // namespace

double auxiliary_time_ns(const RoundStatistics& statistics, const Prices& prices) {
  double sum = static_cast<double>(statistics.host_ns) * prices.host_ratio;
  for (std::size_t i = 0; i < statistics.auxiliary.size(); ++i)
    sum += time_of(statistics.auxiliary[i], prices.auxiliary[i]);
  return sum;
}

double time_ns(const RoundStatistics& statistics, const Prices& prices) {
  const std::int64_t step_rounds = statistics.target_steps.passes;
  double sum = auxiliary_time_ns(statistics, prices) + time_of(statistics.target_steps, prices.target_step) +
               static_cast<double>(step_rounds) * prices.step_round_ns +
               static_cast<double>(statistics.rounds - step_rounds) * prices.round_ns;
  for (const DraftStatistics& draft : statistics.drafts) {
    const DraftPrices& price = prices.drafts[static_cast<std::size_t>(draft.exit)];
    sum += time_of(draft.steps, price.step);
    for (std::size_t rows = 0; rows < draft.verify.size(); ++rows)
      if (draft.verify[rows].passes > 0) sum += time_of(draft.verify[rows], price.verify[rows]);
  }
  return sum;
}

double vanilla_time_ns(std::int64_t tokens, std::int64_t first_context, const Prices& prices) {
  return time_of(vanilla_steps(tokens, first_context), prices.target_step) +
         static_cast<double>(tokens) * prices.step_round_ns;
}

}  // namespace draftscope::simulator
