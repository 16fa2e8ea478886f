// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/joined_prices.h"

#include <draftscope/simulator/answers/answer.h>

#include <algorithm>
#include <utility>

#include "prices/costs/cost_prices.h"
#include "rounds/priced_scenario.h"

namespace draftscope::simulator {

namespace {

bool same_passes(const PriceGroup& group, const StrategyRounds& rounds) {
  return group.verified_layers == rounds.verified_layers &&
         group.auxiliary_passes == rounds.auxiliary_passes &&
         group.draft_model.has_value() == rounds.draft_model.has_value() &&
         (!group.draft_model || speculation::same_sizes(*group.draft_model, *rounds.draft_model)) &&
         group.drafts == rounds.drafts;
}

/// Appends the group's drafts and auxiliary passes to `into`, which holds those of the groups before it.
void join(Prices prices, Prices& into) {
  if (into.drafts.empty())
    into = {prices.target_step, {DraftPrices{}}, prices.round_ns, prices.step_round_ns, {},
            prices.host_ratio};
  for (std::size_t exit = 1; exit < prices.drafts.size(); ++exit)
    into.drafts.push_back(std::move(prices.drafts[exit]));
  into.auxiliary.insert(into.auxiliary.end(), prices.auxiliary.begin(), prices.auxiliary.end());
}

}  // namespace

PriceGroups::PriceGroups(std::span<const StrategyRounds> strategies, std::int32_t n_layers) {
  for (const StrategyRounds& rounds : strategies) {
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const PriceGroup& known) { return same_passes(known, rounds); });
    if (group == groups_.end()) {
      std::int32_t offset = 0;
      std::size_t auxiliary_offset = 0;
      if (!groups_.empty()) {
        const PriceGroup& last = groups_.back();
        offset = last.offset +
                 (last.drafts.empty() ? n_layers - 1 : static_cast<std::int32_t>(last.drafts.size()));
        auxiliary_offset = last.auxiliary_offset + last.auxiliary_passes.size();
      }
      groups_.push_back({rounds.drafts, rounds.verified_layers, rounds.auxiliary_passes, rounds.draft_model,
                         2, offset, auxiliary_offset});
      group = std::prev(groups_.end());
    }
    group->widths = std::max(group->widths, widest_verification(rounds.setting));
    group_of_.push_back(static_cast<std::size_t>(group - groups_.begin()));
  }
}

RoundStatistics PriceGroups::placed(std::size_t strategy, RoundStatistics statistics) const {
  const PriceGroup& group = groups_[group_of_[strategy]];
  for (DraftStatistics& draft : statistics.drafts) draft.exit += group.offset;
  if (!statistics.auxiliary.empty())
    statistics.auxiliary.insert(statistics.auxiliary.begin(), group.auxiliary_offset, PassCount{});
  return statistics;
}

Result<SweepTarget> joined_prices(const CostModel& model, const PriceGroups& groups, const Machine& machine,
                                  std::int32_t longer_context, std::uint64_t seed) {
  std::vector<PriceMap> maps;
  SweepTarget target{.name = machine.name, .prices = {}, .draws = {}};
  for (const PriceGroup& group : groups.groups()) {
    Scenario scenario = machine.scenario;
    scenario.drafts = group.drafts;
    scenario.verified_layers = group.verified_layers;
    scenario.auxiliary_passes = group.auxiliary_passes;
    scenario.draft_model = group.draft_model;
    scenario.widths = group.widths;
    scenario.context += longer_context;
    DRAFTSCOPE_TRY_ASSIGN(PriceMap map, PriceMap::make(machine.costs_or(model), scenario));
    join(map.mean(), target.prices);
    maps.push_back(std::move(map));
  }
  target.prices = at_longer_context(std::move(target.prices), longer_context);
  target.draws = [maps = std::move(maps), longer_context, seed](std::uint64_t draw, PriceSources vary) {
    Prices all;
    for (const PriceMap& map : maps) {
      Prices prices;
      map.draw(seed, draw, vary, prices);
      join(std::move(prices), all);
    }
    return at_longer_context(std::move(all), longer_context);
  };
  return target;
}

}  // namespace draftscope::simulator
