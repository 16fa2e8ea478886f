// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/rounds/round_prices.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "prices/passes/cost_prices.h"
#include "rounds/priced_scenario.h"
#include "rounds/replay/priced_guard.h"

namespace draftscope::simulator {

Result<void> check_draft_model(const StrategyRounds& rounds, bool is_as_recorded) {
  if (is_as_recorded || !rounds.lacks_draft_model) return {};
  return fail(
      "strategy {}: found no shape of the model that drafts, expected a recording that has it "
      "(draft_model_shapes) to price its steps elsewhere",
      rounds.strategy);
}

Result<void> check_draft_weights(const CostModel& trained, const Scenario& scenario) {
  if (scenario.weights == trained.weights) return {};
  constexpr double min_saving = 0.03;  // Formats that differ in their scales alone save nothing.
  const double max_bytes = (1.0 - min_saving) * layer_weight_bytes(scenario.weights);
  for (const speculation::DraftSublayers& draft : scenario.drafts)
    if (draft.weights && layer_weight_bytes(weight_type_of(*draft.weights)) > max_bytes)
      return fail("draft weights are {}, expected fewer bits than {} of the model that is asked about",
                  weight_type_name(weight_type_of(*draft.weights)), weight_type_name(scenario.weights));
  return {};
}

Result<DeviceCheck> check_device(const CostModel& trained, const Scenario& scenario, const Machine& machine) {
  const CostModel& costs = machine.costs_or(trained);
  const bool is_shown = !machine.costs && !scenario.gpu && costs.from_trace && scenario.batch == 1 &&
                        scenario.tensor_parallel == 1 && costs.weights == scenario.weights &&
                        scenario.context <= costs.largest_context && !scenario.plan &&
                        speculation::same_sizes(costs.shape, scenario.shape);
  if (is_shown) return {};
  DRAFTSCOPE_TRY(check_draft_weights(trained, scenario));
  const GpuSpecification* const gpu = scenario.gpu ? &*scenario.gpu : costs.gpu ? &*costs.gpu : nullptr;
  DeviceCheck check{.memory = memory_need(scenario), .usable_memory = {}, .note = {}};
  if (gpu != nullptr) {
    DRAFTSCOPE_TRY(check_number_type(*gpu, scenario.weights));
    DRAFTSCOPE_TRY(check_memory(scenario, *gpu));
    check.usable_memory = usable_memory(*gpu);
  }
  check.note = CostNote{Provenance::prior, 0.0,
                        check.usable_memory
                            ? fmt::format("memory: {}, which fit in {:.1f} GB", memory_text(*check.memory),
                                          1e-9 * *check.usable_memory)
                            : fmt::format("memory: {}; the machine's is not known, so that nobody checked "
                                          "whether they fit",
                                          memory_text(*check.memory))};
  return check;
}

Scenario answer_scenario(const StrategyRounds& rounds, const Machine& machine) {
  Scenario scenario = machine.scenario;
  scenario.drafts = rounds.drafts;
  scenario.auxiliary_passes = rounds.auxiliary_passes;
  scenario.draft_model = rounds.draft_model;
  scenario.verified_layers = rounds.verified_layers;
  scenario.widths = widest_verification(rounds.setting);
  scenario.context += rounds.longer_context;
  return scenario;
}

PartTimes part_times(const RoundStatistics& statistics, std::span<const AuxiliaryPass> kinds,
                     const Prices& prices) {
  const auto plain_rounds = static_cast<double>(statistics.target_steps.passes);
  PartTimes times{.verify_ns = prices.target_step.of(statistics.target_steps),
                  .rest_ns = (static_cast<double>(statistics.rounds) - plain_rounds) * prices.round_ns +
                             plain_rounds * prices.step_round_ns,
                  .auxiliary_ns = auxiliary_time_ns(statistics, prices)};
  for (const DraftStatistics& draft : statistics.drafts) {
    const DraftPrices& price = prices.drafts[static_cast<std::size_t>(draft.exit)];
    std::int64_t verifications = 0;
    for (std::size_t rows = 0; rows < draft.verify.size(); ++rows) {
      verifications += draft.verify[rows].passes;
      if (draft.verify[rows].passes > 0) times.verify_ns += price.verify[rows].of(draft.verify[rows]);
    }
    const double start_ns = price.start_ns * static_cast<double>(verifications);
    times.verify_ns += planned_time_ns(draft, price) - start_ns;
    times.draft_ns += price.step.of(draft.steps) + start_ns;
    times.steps += draft.steps.passes;
  }
  for (std::size_t i = 0; i < kinds.size() && i < statistics.auxiliary.size(); ++i) {
    if (!drafts_beside(kinds[i].kind)) continue;
    const double model_ns = prices.auxiliary[i].of(statistics.auxiliary[i]);
    times.auxiliary_ns -= model_ns;
    times.draft_ns += model_ns;
    if (kinds[i].has_head) times.steps += statistics.auxiliary[i].passes;
  }
  return times;
}

PartTimes OwnRatios::of(PartTimes parts) const {
  parts.draft_ns *= draft;
  parts.verify_ns *= verify;
  parts.rest_ns *= rest;
  parts.auxiliary_ns *= rest;
  return parts;
}

OwnRatios own_ratios(const PartTimes& parts, const StrategyRounds& rounds, double own_ratio) {
  const double priced_ns = parts.rest_ns + parts.auxiliary_ns;
  const double rest_ns = own_ratio * parts.all_ns() - rounds.own_draft_ratio * parts.draft_ns -
                         rounds.own_verify_ratio * parts.verify_ns;
  if (own_ratio != rounds.own_ratio || !(rest_ns > 0.0) || !(priced_ns > 0.0))
    return {own_ratio, own_ratio, own_ratio};
  return {rounds.own_draft_ratio, rounds.own_verify_ratio, rest_ns / priced_ns};
}

Result<bool> has_own_time(const CostModel& trained, const StrategyRounds& rounds, const Machine& machine) {
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map,
                        PriceMap::make(machine.costs_or(trained), answer_scenario(rounds, machine)));
  return map.has_own_ratios();
}

Result<double> own_time_ratio(const CostModel& trained, const StrategyRounds& rounds,
                              const Machine& machine) {
  DRAFTSCOPE_TRY_ASSIGN(const bool has_own, has_own_time(trained, rounds, machine));
  return has_own ? rounds.own_ratio : 1.0;
}

Result<Prices> answer_prices(const CostModel& trained, const StrategyRounds& rounds, const Machine& machine) {
  const Scenario scenario = answer_scenario(rounds, machine);
  DRAFTSCOPE_TRY(check_device(trained, scenario, machine));
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap map, PriceMap::make(machine.costs_or(trained), scenario));
  DRAFTSCOPE_TRY(check_draft_model(rounds, map.is_as_recorded()));
  return map.mean();
}

Result<Prices> early_exit_prices(const CostModel& trained, const Machine& machine,
                                 VerifiedLayers verified_layers, std::int32_t widths,
                                 std::int32_t longer_context) {
  Scenario scenario = machine.scenario;
  scenario.drafts = for_shape({}, trained.shape, machine.scenario.shape).drafts;
  scenario.verified_layers = verified_layers;
  scenario.widths = widths;
  scenario.context += longer_context;
  DRAFTSCOPE_TRY(check_device(trained, scenario, machine));
  return prices(machine.costs_or(trained), scenario);
}

Prices at_longer_context(Prices prices, std::int32_t rows) {
  const auto lengthen = [rows](AffineTime& time) { time.ns = time.at(rows); };
  lengthen(prices.target_step);
  for (DraftPrices& draft : prices.drafts) {
    lengthen(draft.step);
    for (AffineTime& verify : draft.verify) lengthen(verify);
  }
  for (AffineTime& own : prices.auxiliary) lengthen(own);
  return prices;
}

std::int32_t widest_verification(const SettingRounds& setting) {
  return std::max(widest_verification(setting.min_drafted), widest_verification(setting.max_drafted));
}

}  // namespace draftscope::simulator
