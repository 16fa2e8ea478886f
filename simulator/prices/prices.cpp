// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/prices/prices.h>

#include <algorithm>

namespace draftscope::simulator {

namespace {

double time_of(const PassCount& passes, const AffineTime& time) {
  return static_cast<double>(passes.passes) * time.ns +
         static_cast<double>(passes.context) * time.ns_per_context_row;
}

// The flat form: four elements, then of each exit from 1 its steps and its verifications of each width
// from 2.
constexpr std::size_t common_elements = 4;

std::size_t elements(std::int32_t exits, std::int32_t widths) {
  return common_elements + 2U * static_cast<std::size_t>(exits) * static_cast<std::size_t>(widths);
}

std::size_t place_of(std::int32_t exit, std::int32_t width, std::int32_t widths) {
  return common_elements + 2U * (static_cast<std::size_t>(exit - 1) * static_cast<std::size_t>(widths) +
                                 static_cast<std::size_t>(width - 1));
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

std::vector<double> flatten(const RoundStatistics& statistics, std::int32_t exits, std::int32_t widths) {
  std::vector<double> flat(elements(exits, widths));
  const auto put = [&](std::size_t place, const PassCount& passes) {
    flat[place] += static_cast<double>(passes.passes);
    flat[place + 1] += static_cast<double>(passes.context);
  };
  put(0, statistics.target_steps);
  flat[2] = static_cast<double>(statistics.target_steps.passes);
  flat[3] = static_cast<double>(statistics.rounds - statistics.target_steps.passes);
  for (const DraftStatistics& draft : statistics.drafts) {
    put(place_of(draft.exit, 1, widths), draft.steps);
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows)
      put(place_of(draft.exit, static_cast<std::int32_t>(rows), widths), draft.verify[rows]);
  }
  return flat;
}

std::vector<double> flatten(const Prices& prices, std::int32_t exits, std::int32_t widths) {
  std::vector<double> flat(elements(exits, widths));
  const auto put = [&](std::size_t place, const AffineTime& time) {
    flat[place] = time.ns;
    flat[place + 1] = time.ns_per_context_row;
  };
  put(0, prices.target_step);
  flat[2] = prices.step_round_ns;
  flat[3] = prices.round_ns;
  for (std::int32_t exit = 1; exit < std::min(exits + 1, static_cast<std::int32_t>(prices.drafts.size()));
       ++exit) {
    const DraftPrices& price = prices.drafts[static_cast<std::size_t>(exit)];
    put(place_of(exit, 1, widths), price.step);
    for (std::int32_t rows = 2; rows <= std::min(widths, static_cast<std::int32_t>(price.verify.size()) - 1);
         ++rows)
      put(place_of(exit, rows, widths), price.verify[static_cast<std::size_t>(rows)]);
  }
  return flat;
}

}  // namespace draftscope::simulator
