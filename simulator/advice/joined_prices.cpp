// SPDX-License-Identifier: GPL-3.0-or-later
#include "advice/joined_prices.h"

#include <draftscope/simulator/what_if/answer.h>

#include <algorithm>
#include <utility>

#include "costs/cost_prices.h"
#include "what_if/answer_prices.h"

namespace draftscope::simulator {

namespace {

bool same_passes(const PriceGroup& group, const StrategyRounds& rounds) {
  const auto same = [](const speculation::DraftSublayers& a, const speculation::DraftSublayers& b) {
    return a.attention == b.attention && a.mlp == b.mlp;
  };
  return group.verified_layers == rounds.verified_layers &&
         group.optimise_steps_per_round == rounds.optimise_steps_per_round &&
         std::equal(group.drafts.begin(), group.drafts.end(), rounds.drafts.begin(), rounds.drafts.end(),
                    same);
}

/// Appends the group's drafts to `into`, which holds those of the groups before it.
void join(const PriceGroup& group, Prices prices, Prices& into) {
  const double search_ns = group.optimise_steps_per_round * (prices.target_step.ns + prices.step_round_ns);
  if (into.drafts.empty()) {
    into = {prices.target_step, {DraftPrices{}}, prices.round_ns, prices.step_round_ns};
  }
  for (std::size_t exit = 1; exit < prices.drafts.size(); ++exit) {
    DraftPrices& draft = prices.drafts[exit];
    for (std::size_t rows = 2; rows < draft.verify.size(); ++rows) draft.verify[rows].ns += search_ns;
    into.drafts.push_back(std::move(draft));
  }
}

}  // namespace

PriceGroups::PriceGroups(std::span<const StrategyRounds> strategies, std::int32_t n_layers) {
  for (const StrategyRounds& rounds : strategies) {
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const PriceGroup& known) { return same_passes(known, rounds); });
    if (group == groups_.end()) {
      std::int32_t offset = 0;
      if (!groups_.empty()) {
        const PriceGroup& last = groups_.back();
        offset = last.offset +
                 (last.drafts.empty() ? n_layers - 1 : static_cast<std::int32_t>(last.drafts.size()));
      }
      groups_.push_back({rounds.drafts, rounds.verified_layers, rounds.optimise_steps_per_round, 2, offset});
      group = std::prev(groups_.end());
    }
    group->widths = std::max(group->widths, widest_verification(rounds.setting));
    group_of_.push_back(static_cast<std::size_t>(group - groups_.begin()));
  }
}

RoundStatistics PriceGroups::placed(std::size_t strategy, RoundStatistics statistics) const {
  for (DraftStatistics& draft : statistics.drafts) draft.exit += groups_[group_of_[strategy]].offset;
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
    scenario.widths = group.widths;
    scenario.context += longer_context;
    DRAFTSCOPE_TRY_ASSIGN(PriceMap map, PriceMap::make(machine.costs_or(model), scenario));
    join(group, map.mean(), target.prices);
    maps.push_back(std::move(map));
  }
  target.prices = at_longer_context(std::move(target.prices), longer_context);
  target.draws = [maps = std::move(maps), groups = groups.groups(), longer_context, seed](std::uint64_t draw,
                                                                                          PriceSources vary) {
    Prices all;
    for (std::size_t i = 0; i < maps.size(); ++i) {
      Prices prices;
      maps[i].draw(seed, draw, vary, prices);
      join(groups[i], std::move(prices), all);
    }
    return at_longer_context(std::move(all), longer_context);
  };
  return target;
}

}  // namespace draftscope::simulator
