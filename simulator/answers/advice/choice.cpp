// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/choice.h"

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>
#include <algorithm>
#include <numeric>
#include <utility>

#include "prices/passes/cost_prices.h"
#include "rounds/priced_scenario.h"

namespace draftscope::simulator {

namespace {

std::vector<StrategyRounds> shaped(const Candidates& candidates, const ModelShape& recorded,
                                   const ModelShape& asked) {
  std::vector<StrategyRounds> rounds;
  rounds.reserve(candidates.all.size());
  for (const Candidate& candidate : candidates.all)
    rounds.push_back(for_shape(candidate.rounds, recorded, asked));
  return rounds;
}

bool same_passes(const PriceGroup& group, const StrategyRounds& rounds) {
  return group.verified_layers == rounds.verified_layers &&
         group.auxiliary_passes == rounds.auxiliary_passes &&
         group.draft_model.has_value() == rounds.draft_model.has_value() &&
         (!group.draft_model || speculation::same_sizes(*group.draft_model, *rounds.draft_model)) &&
         group.drafts == rounds.drafts;
}

/// Appends the group's drafts and auxiliary passes to `into`, which contains those of the previous groups.
void join(Prices prices, Prices& into) {
  if (into.drafts.empty())
    into = {prices.target_step, {DraftPrices{}}, prices.round_ns, prices.step_round_ns, {},
            prices.host_ratio};
  for (std::size_t exit = 1; exit < prices.drafts.size(); ++exit)
    into.drafts.push_back(std::move(prices.drafts[exit]));
  into.auxiliary.insert(into.auxiliary.end(), prices.auxiliary.begin(), prices.auxiliary.end());
}

Result<bool> pays_at(const AdvisedMachine& advised, std::int32_t batch) {
  Machine machine = advised.machine;
  machine.scenario.batch = batch;
  DRAFTSCOPE_TRY_ASSIGN(const JoinedPrices joined,
                        joined_prices(advised.model, advised.placed.groups, machine,
                                      advised.options.longer_context, advised.options.draws.seed));
  const Competition competition =
      compete(advised.placed, advised.vanilla, joined.machine.prices, joined.has_own_ratios);
  return competition.speedup(competition.fastest()) > 1.0;
}

/// The fastest candidate with a given number of additional rows, and its lead.
struct Best {
  std::string strategy;
  double gain = 0.0;  ///< Gain over the chosen one.
};

Best best_at(const AdvisedMachine& advised, std::optional<std::size_t> chosen, const Prices& prices,
             bool has_own_ratios, std::int32_t more_rows) {
  const Competition competition =
      compete(advised.placed, advised.vanilla, at_longer_context(prices, more_rows), has_own_ratios);
  const std::size_t fastest = competition.fastest();
  const bool drafts = competition.speedup(fastest) > 1.0;
  const double best_ns = drafts ? competition.total_ns[fastest] : competition.vanilla_ns;
  const double chosen_ns = chosen ? competition.total_ns[*chosen] : competition.vanilla_ns;
  return {drafts ? advised.placed.rounds[fastest].strategy : "vanilla", chosen_ns / best_ns - 1.0};
}

/// Minimum rows of a pass that verifies.
constexpr std::int32_t min_verified = 2;

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

Result<JoinedPrices> joined_prices(const CostModel& model, const PriceGroups& groups, const Machine& machine,
                                   std::int32_t longer_context, std::uint64_t seed) {
  std::vector<PriceMap> maps;
  JoinedPrices joined{.machine = {.name = machine.name, .prices = {}, .draws = {}}};
  PricedMachine& priced = joined.machine;
  for (const PriceGroup& group : groups.groups()) {
    Scenario scenario = machine.scenario;
    scenario.drafts = group.drafts;
    scenario.verified_layers = group.verified_layers;
    scenario.auxiliary_passes = group.auxiliary_passes;
    scenario.draft_model = group.draft_model;
    scenario.widths = group.widths;
    scenario.context += longer_context;
    DRAFTSCOPE_TRY_ASSIGN(PriceMap map, PriceMap::make(machine.costs_or(model), scenario));
    join(map.mean(), priced.prices);
    joined.has_own_ratios = map.has_own_ratios();
    maps.push_back(std::move(map));
  }
  priced.prices = at_longer_context(std::move(priced.prices), longer_context);
  priced.draws = [maps = std::move(maps), longer_context, seed](std::uint64_t draw, PriceSources vary) {
    Prices all;
    for (const PriceMap& map : maps) {
      Prices prices;
      map.draw(seed, draw, vary, prices);
      join(std::move(prices), all);
    }
    return at_longer_context(std::move(all), longer_context);
  };
  return joined;
}

PlacedCandidates place(const Candidates& candidates, const ModelShape& recorded, const ModelShape& asked) {
  std::vector<StrategyRounds> rounds = shaped(candidates, recorded, asked);
  PriceGroups groups(rounds, asked.n_layers);
  PlacedCandidates placed{std::move(rounds), {}, {}, std::move(groups)};
  for (std::size_t i = 0; i < placed.rounds.size(); ++i) {
    SettingRounds& setting = placed.rounds[i].setting;
    for (auto* side : {&setting.min_drafted, &setting.max_drafted})
      for (RoundStatistics& request : *side) request = placed.groups.placed(i, std::move(request));
    placed.least.push_back(sum_of(setting.min_drafted));
    placed.most.push_back(setting.max_drafted.empty() ? placed.least.back() : sum_of(setting.max_drafted));
  }
  return placed;
}

std::size_t Competition::fastest() const {
  return static_cast<std::size_t>(std::min_element(total_ns.begin(), total_ns.end()) - total_ns.begin());
}

Competition compete(const PlacedCandidates& placed, const RoundStatistics& vanilla, const Prices& prices,
                    bool has_own_ratios) {
  Competition competition{
      .vanilla_ns = time_ns(vanilla, prices), .total_ns = {}, .is_most = {}, .own_ratio = {}};
  for (std::size_t i = 0; i < placed.rounds.size(); ++i) {
    const double min_ns = time_ns(placed.least[i], prices);
    const double max_ns = time_ns(placed.most[i], prices);
    competition.own_ratio.push_back(has_own_ratios ? placed.rounds[i].own_ratio : 1.0);
    competition.total_ns.push_back(competition.own_ratio.back() * std::max(min_ns, max_ns));
    competition.is_most.push_back(max_ns > min_ns);
  }
  return competition;
}

const std::vector<RoundStatistics>& slower(const PlacedCandidates& placed, const Competition& competition,
                                           std::size_t candidate) {
  const SettingRounds& setting = placed.rounds[candidate].setting;
  return competition.is_most[candidate] ? setting.max_drafted : setting.min_drafted;
}

HeldOutRounds cross_fitted(const PlacedCandidates& placed, const Competition& competition,
                           const std::vector<RoundStatistics>& vanilla, const Prices& prices,
                           std::size_t folds) {
  const std::size_t requests = vanilla.size();
  HeldOutRounds chosen{.setting = {.status = AnswerStatus::exact, .min_drafted = vanilla, .max_drafted = {}}};
  std::vector<double> best(folds);
  std::vector<double> ratio(folds, 1.0);
  std::vector<AnswerStatus> status(folds, AnswerStatus::exact);
  // Adds a request's time to the sums of the folds that do not hold it out.
  const auto add = [&](std::vector<double>& sums, std::size_t request, double ns) {
    for (std::size_t fold = 0; fold < folds; ++fold)
      if (request % folds != fold) sums[fold] += ns;
  };
  for (std::size_t i = 0; i < requests; ++i) add(best, i, time_ns(vanilla[i], prices));
  for (std::size_t candidate = 0; candidate < placed.rounds.size(); ++candidate) {
    const std::vector<RoundStatistics>& rounds = slower(placed, competition, candidate);
    std::vector<double> training(folds);
    for (std::size_t i = 0; i < requests; ++i)
      add(training, i, competition.own_ratio[candidate] * time_ns(rounds[i], prices));
    for (std::size_t fold = 0; fold < folds; ++fold) {
      if (!(training[fold] < best[fold])) continue;
      best[fold] = training[fold];
      ratio[fold] = competition.own_ratio[candidate];
      status[fold] = placed.rounds[candidate].setting.status;
      for (std::size_t i = fold; i < requests; i += folds) chosen.setting.min_drafted[i] = rounds[i];
    }
  }
  double priced_ns = 0.0;
  double ns = 0.0;
  for (std::size_t i = 0; i < requests; ++i) {
    const double time = time_ns(chosen.setting.min_drafted[i], prices);
    priced_ns += time;
    ns += ratio[i % folds] * time;
  }
  if (priced_ns > 0.0) chosen.own_ratio = ns / priced_ns;
  chosen.setting.status = *std::max_element(status.begin(), status.end());
  return chosen;
}

Result<BatchLimit> batch_limit(const AdvisedMachine& advised) {
  BatchLimit limit{.last = 0, .searched = advised.options.max_batch};
  std::int32_t above = 1;  // Speculation does not pay here, once the search below has ended.
  while (above <= limit.searched) {
    DRAFTSCOPE_TRY_ASSIGN(const bool pays, pays_at(advised, above));
    if (!pays) break;
    limit.last = above;
    above = above < limit.searched ? std::min(2 * above, limit.searched) : limit.searched + 1;
  }
  while (above - limit.last > 1 && limit.last > 0 && limit.last < limit.searched) {
    const std::int32_t middle = limit.last + (above - limit.last) / 2;
    DRAFTSCOPE_TRY_ASSIGN(const bool pays, pays_at(advised, middle));
    (pays ? limit.last : above) = middle;
  }
  limit.is_extrapolated = min_verified * std::max(limit.last, 1) > advised.model.largest_rows;
  return limit;
}

ContextLimit context_limit(const AdvisedMachine& advised, std::optional<std::size_t> chosen,
                           const Prices& prices, bool has_own_ratios) {
  constexpr std::int32_t first = 256;
  constexpr std::int32_t steps = 16;
  ContextLimit limit{.more_rows = {}, .strategy = {}, .gain = 0.0, .searched = advised.options.max_context};
  const auto changes = [&](std::int32_t rows) {
    return best_at(advised, chosen, prices, has_own_ratios, rows).gain > context_tolerance;
  };
  std::int32_t below = 0;
  std::int32_t above = std::min(first, limit.searched);
  while (!changes(above)) {
    if (above == limit.searched) return limit;
    below = above;
    above = std::min(2 * above, limit.searched);
  }
  while (above - below > std::max(above / steps, 1)) {
    const std::int32_t middle = below + (above - below) / 2;
    (changes(middle) ? above : below) = middle;
  }
  const Best there = best_at(advised, chosen, prices, has_own_ratios, above);
  limit.more_rows = above;
  limit.strategy = there.strategy;
  limit.gain = there.gain;
  limit.is_extrapolated = above > advised.model.largest_context;
  return limit;
}

}  // namespace draftscope::simulator
