// SPDX-License-Identifier: GPL-3.0-or-later
#include "heat_map.h"

#include <draftscope/simulator/answers/answer.h>
#include <draftscope/simulator/rounds/strategy_rounds.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace draftscope::gui {

namespace {

/// The map needs only sums, and a recording may have tens of thousands of requests.
void merge_requests(simulator::StrategyRounds& rounds) {
  const auto merge = [](std::vector<simulator::RoundStatistics>& side) {
    if (side.empty()) return;
    simulator::RoundStatistics sum;
    for (const simulator::RoundStatistics& request : side) add(sum, request);
    side = {std::move(sum)};
  };
  merge(rounds.setting.min_drafted);
  merge(rounds.setting.max_drafted);
  simulator::PassCount vanilla;
  for (const simulator::PassCount& steps : rounds.vanilla) {
    vanilla.passes += steps.passes;
    vanilla.context += steps.context;
  }
  rounds.vanilla = {vanilla};
  rounds.categories.clear();
  rounds.notes.clear();
}

/// Prices of replayed rounds are the same for every cell, so they are made once.
Result<double> slower_speedup(const simulator::CostModel& model, const simulator::StrategyRounds& rounds,
                              const simulator::Machine& machine,
                              std::optional<simulator::Prices>& of_replays) {
  const bool is_own = rounds.source == simulator::RoundSource::recorded;
  double own_ratio = 1.0;
  simulator::Prices own_prices;
  if (is_own) {
    DRAFTSCOPE_TRY_ASSIGN(own_prices, answer_prices(model, rounds, machine));
    DRAFTSCOPE_TRY_ASSIGN(own_ratio, own_time_ratio(model, rounds, machine));
  } else if (!of_replays) {
    DRAFTSCOPE_TRY_ASSIGN(of_replays, early_exit_prices(model, machine, rounds.verified_layers,
                                                        longest_in_heat_map + 1, rounds.longer_context));
  }
  const simulator::Prices& prices = is_own ? own_prices : *of_replays;
  const simulator::PassCount& steps = rounds.vanilla.front();
  const simulator::RoundStatistics vanilla{.rounds = steps.passes, .target_steps = steps};
  double ns = time_ns(rounds.setting.min_drafted.front(), prices);
  if (!rounds.setting.max_drafted.empty())
    ns = std::max(ns, time_ns(rounds.setting.max_drafted.front(), prices));
  if (!(ns > 0.0)) return fail("{}: rounds take no time, expected some", rounds.strategy);
  return time_ns(vanilla, prices) / (ns * own_ratio);
}

/// Exit and length of a cell, both from 1.
std::pair<std::int32_t, std::int32_t> place_of(std::size_t cell) {
  const auto place = static_cast<std::int32_t>(cell);
  return {place / longest_in_heat_map + 1, place % longest_in_heat_map + 1};
}

Question cell_question(Question question, std::int32_t exit, std::int32_t gamma) {
  question.exit = exit;
  question.gamma = gamma;
  return question;
}

}  // namespace

const HeatCell* HeatMap::best() const {
  const HeatCell* best = nullptr;
  for (const HeatCell& cell : cells)
    if (cell.refusal.empty() && (best == nullptr || cell.speedup > best->speedup)) best = &cell;
  return best;
}

std::optional<std::pair<int, int>> HeatAxes::place_of(std::int32_t exit, std::int32_t gamma) const {
  const auto column = std::ranges::find(exits, exit);
  const auto row = std::ranges::find(lengths, gamma);
  if (column == exits.end() || row == lengths.end()) return std::nullopt;
  return std::pair(static_cast<int>(column - exits.begin()), static_cast<int>(row - lengths.begin()));
}

HeatAxes HeatMap::answered() const {
  std::set<std::int32_t> with_exit;
  std::set<std::int32_t, std::greater<>> with_length;
  for (const HeatCell& cell : cells) {
    if (!cell.refusal.empty()) continue;
    with_exit.insert(cell.exit);
    with_length.insert(cell.gamma);
  }
  return {{with_exit.begin(), with_exit.end()}, {with_length.begin(), with_length.end()}};
}

Result<void> HeatMapRounds::replay(const simulator::WhatIf& what_if, const Question& question,
                                   const std::function<bool(std::int64_t, std::int64_t)>& should_continue) {
  const simulator::ModelShape& shape = what_if.costs().model.shape;
  const std::string name = strategy_of(cell_question(question, 1, 1));
  if (name != kept_for_ || shape.n_layers != kept_layers_) kept_.clear();
  kept_for_ = name;
  kept_layers_ = shape.n_layers;
  const auto all = static_cast<std::size_t>(shape.n_layers - 1) * longest_in_heat_map;
  while (kept_.size() < all) {
    const auto [exit, gamma] = place_of(kept_.size());
    auto rounds = what_if.rounds(strategy_of(cell_question(question, exit, gamma)));
    Cell& cell = kept_.emplace_back();
    if (rounds) {
      cell.rounds = *std::move(rounds);
      merge_requests(cell.rounds);
    } else {
      cell.refusal = rounds.error().message;
    }
    if (should_continue &&
        !should_continue(static_cast<std::int64_t>(kept_.size()), static_cast<std::int64_t>(all)))
      return fail("stopped");
  }
  return {};
}

Result<HeatMap> HeatMapRounds::map(const Question& asked,
                                   const std::function<bool(std::int64_t, std::int64_t)>& should_continue) {
  const Question question = heat_map_question(asked);
  DRAFTSCOPE_TRY_ASSIGN(const WhatIfPointer what_if, trained_->what_if(question));
  DRAFTSCOPE_TRY(replay(*what_if, question, should_continue));
  const simulator::Scenario recorded = what_if->recorded_scenario();
  DRAFTSCOPE_TRY_ASSIGN(const simulator::Machine machine, machine_of(question, recorded));
  HeatMap map{.exits = recorded.shape.n_layers - 1, .lengths = longest_in_heat_map, .cells = {}};
  std::optional<simulator::Prices> of_replays;
  for (const Cell& kept : kept_) {
    HeatCell& cell = map.cells.emplace_back();
    std::tie(cell.exit, cell.gamma) = place_of(map.cells.size() - 1);
    cell.strategy = strategy_of(cell_question(question, cell.exit, cell.gamma));
    cell.refusal = kept.refusal;
    if (cell.refusal.empty()) {
      simulator::StrategyRounds rounds = kept.rounds;
      if (question.longer_context > 0) simulator::lengthen_context(rounds, question.longer_context);
      rounds = simulator::for_shape(std::move(rounds), recorded.shape, machine.scenario.shape);
      cell.status = rounds.setting.status;
      auto speedup = slower_speedup(what_if->costs().model, rounds, machine, of_replays);
      if (speedup)
        cell.speedup = *speedup;
      else
        cell.refusal = std::move(speedup).error().message;
    }
    if (should_continue && !should_continue(static_cast<std::int64_t>(map.cells.size()),
                                            static_cast<std::int64_t>(kept_.size())))
      return fail("stopped");
  }
  return map;
}

}  // namespace draftscope::gui
