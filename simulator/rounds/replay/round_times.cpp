// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/replay/round_times.h"

#include <draftscope/base/statistics.h>

#include <algorithm>

namespace draftscope::simulator {

RoundTimes round_times(const KnownRound& round, const RoundPrices& prices) {
  const double root = round.round.root_position + prices.longer_context;
  RoundTimes times{.optimise_ns = prices.optimise_ns};
  double rest_ns = prices.prices.step_round_ns;
  if (round.draft == 0) {
    times.verify_ns = prices.prices.target_step.at(root);
  } else {
    const DraftPrices& price = prices.prices.drafts[static_cast<std::size_t>(round.draft)];
    const double steps = round.draft_steps;
    times.draft_ns = price.start_ns + steps * price.step.at(root) +
                     price.step.ns_per_context_row * (0.5 * steps * (steps - 1));
    // A verification of one row is a target step with a round's overhead; it has the price of two rows.
    const auto rows = static_cast<std::size_t>(std::max(round.round.verify_rows, 2));
    DraftStatistics planned;
    count_planned(planned, round.round.verify_rows, round.planned_rows);
    times.verify_ns = price.verify[rows].at(root) - price.start_ns + planned_time_ns(planned, price);
    rest_ns = prices.prices.round_ns;
  }
  times.accept_ns = prices.accept_share * rest_ns;
  times.control_ns = rest_ns - times.accept_ns;
  const bool has_draft = round.draft != 0;
  times.draft_ns *= has_draft ? prices.draft_ratio : prices.own_ratio;
  times.verify_ns *= has_draft ? prices.verify_ratio : prices.own_ratio;
  for (double* const ns : {&times.control_ns, &times.accept_ns, &times.optimise_ns})
    *ns *= has_draft ? prices.rest_ratio : prices.own_ratio;
  return times;
}

std::vector<double> recorded_noise(std::span<const RunRows> runs, const Machine* machine) {
  std::vector<double> times;
  if (machine != nullptr && (machine->scenario.gpu || machine->costs)) return times;
  for (const RunRows& run : runs)
    if (run.run->is_baseline)
      for (const RequestRows& request : run.requests)
        for (const traces::Round& round : request.rounds)
          if (round.end_ns > round.start_ns)
            times.push_back(static_cast<double>(round.end_ns - round.start_ns));
  if (times.empty()) return times;
  const double median = upper_median(std::vector(times));
  for (double& time : times) time /= median;
  return times;
}

double recorded_accept_share(std::span<const traces::Round> rounds) {
  double accept_ns = 0.0;
  double control_ns = 0.0;
  for (const traces::Round& round : rounds) {
    accept_ns += static_cast<double>(round.accept_ns);
    control_ns += static_cast<double>(round.control_ns);
  }
  return accept_ns + control_ns > 0.0 ? accept_ns / (accept_ns + control_ns) : 1.0;
}

}  // namespace draftscope::simulator
