// SPDX-License-Identifier: GPL-3.0-or-later
#include "what_if/answer_prices.h"

#include <algorithm>
#include <utility>

#include "costs/cost_prices.h"

namespace draftscope::simulator {

double searches_ns(double vanilla_steps, const Prices& prices) {
  return vanilla_steps * (prices.target_step.ns + prices.step_round_ns);
}

double optimise_ns_per_round(const StrategyRounds& rounds, const Prices& prices) {
  return searches_ns(rounds.optimise_steps_per_round, prices);
}

Scenario answer_scenario(const StrategyRounds& rounds, const Machine& machine) {
  Scenario scenario = machine.scenario;
  scenario.drafts = rounds.drafts;
  scenario.verified_layers = rounds.verified_layers;
  scenario.widths = widest_verification(rounds.setting);
  scenario.context += rounds.longer_context;
  return scenario;
}

Result<double> own_time_ratio(const CostModel& trained, const StrategyRounds& rounds,
                              const Machine& machine) {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map,
                        PriceMap::make(machine.costs_or(trained), answer_scenario(rounds, machine)));
  return map.is_as_recorded() ? rounds.own_ratio : 1.0;
}

Result<Prices> answer_prices(const CostModel& trained, const StrategyRounds& rounds, const Machine& machine) {
  DRAFTSCOPE_TRY_ASSIGN(Prices result, prices(machine.costs_or(trained), answer_scenario(rounds, machine)));
  result.round_ns += optimise_ns_per_round(rounds, result);
  return result;
}

Result<Prices> early_exit_prices(const CostModel& trained, const Machine& machine,
                                 VerifiedLayers verified_layers, std::int32_t widths,
                                 std::int32_t longer_context) {
  Scenario scenario = machine.scenario;
  scenario.drafts = for_shape({}, trained.shape, machine.scenario.shape).drafts;
  scenario.verified_layers = verified_layers;
  scenario.widths = widths;
  scenario.context += longer_context;
  return prices(machine.costs_or(trained), scenario);
}

Prices at_longer_context(Prices prices, std::int32_t rows) {
  const auto lengthen = [rows](AffineTime& time) { time.ns = time.at(rows); };
  lengthen(prices.target_step);
  for (DraftPrices& draft : prices.drafts) {
    lengthen(draft.step);
    for (AffineTime& verify : draft.verify) lengthen(verify);
  }
  return prices;
}

std::int32_t widest_verification(const SweepSetting& setting) {
  std::size_t rows = 2;
  for (const auto* side : {&setting.least, &setting.most})
    for (const RoundStatistics& request : *side)
      for (const DraftStatistics& draft : request.drafts) rows = std::max(rows, draft.verify.size());
  return static_cast<std::int32_t>(rows);
}

}  // namespace draftscope::simulator
