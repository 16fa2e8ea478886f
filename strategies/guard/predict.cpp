// SPDX-License-Identifier: GPL-3.0-or-later
// Predicts rounds of a strategy with guard= that was not recorded, where rounds without the guard are
// replayed.
#include <draftscope/simulator/prices/asked_machine.h>
#include <draftscope/simulator/prices/scenario.h>
#include <draftscope/speculation/strategy_text.h>
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "prices/passes/cost_prices.h"
#include "rounds/priced_scenario.h"
#include "rounds/replay/priced_guard.h"
#include "rounds/round_sources.h"

namespace draftscope::simulator {

namespace {

/// Prices of the strategy's rounds on the machine, of verifications of up to `widths` rows.
Result<PriceMap> prices_of(const TrainedRecording& trained, const StrategyRounds& unguarded,
                           const Machine* machine, std::int32_t widths) {
  const CostModel& recorded = trained.costs.model;
  Scenario scenario = machine == nullptr ? fitted_scenario(recorded) : machine->scenario;
  const StrategyRounds shaped = for_shape(unguarded, recorded.shape, scenario.shape);
  scenario.drafts = shaped.drafts;
  scenario.verified_layers = shaped.verified_layers;
  scenario.widths = widths;
  return PriceMap::make(machine == nullptr ? recorded : machine->costs_or(recorded), scenario);
}

/// Rounds under a guard, and how many of them are vanilla.
struct Guarded {
  StrategyRounds rounds;
  std::int64_t vanilla = 0;
  std::int64_t all = 0;
};

Result<Guarded> guarded_by(const TrainedRecording& trained, std::string_view strategy,
                           const std::string& alone, PricedGuard guard) {
  if (follows_from_texts(strategy)) {
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, lookup_rounds(trained, strategy, &guard));
    return Guarded{std::move(rounds), guard.vanilla_rounds(), guard.rounds()};
  }
  DRAFTSCOPE_TRY_ASSIGN(std::unique_ptr<Policy> replayed, replayed_policy(trained, alone));
  GuardedPolicy policy(std::move(replayed), std::move(guard));
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, replayed_rounds(trained, strategy, policy));
  return Guarded{std::move(rounds), policy.guard().vanilla_rounds(), policy.guard().rounds()};
}

/// Adds the status of guarded rounds, and their note after those of the strategy alone.
void add_note(const Guarded& guarded, const StrategyRounds& unguarded, StrategyRounds& rounds) {
  rounds.notes = unguarded.notes;
  rounds.source = RoundSource::modelled;
  rounds.setting.status = AnswerStatus::approximate;
  rounds.setting.max_drafted.clear();
  rounds.notes.push_back(fmt::format("its guard goes by predicted times: {} of {} rounds are vanilla",
                                     guarded.vanilla, guarded.all));
}

}  // namespace

Result<StrategyRounds> guarded_rounds(const TrainedRecording& trained, std::string_view strategy,
                                      const Machine* machine) {
  DRAFTSCOPE_TRY_ASSIGN(const auto guarded, speculation::parse_strategy(strategy, trained.n_layers()));
  const std::string alone = speculation::set_parameter(std::string(strategy), "guard", "0");
  DRAFTSCOPE_TRY_ASSIGN(const auto inner, speculation::parse_strategy(alone, trained.n_layers()));
  DRAFTSCOPE_TRY_ASSIGN(const StrategyRounds unguarded, rounds_of(trained, alone));
  const bool is_text = follows_from_texts(strategy);
  if (!is_text && (trained.shadowed.tables.empty() || !inner.no_replay().empty()))
    return fail(
        "strategy {}: its guard goes by clocks, and its rounds are not replayed one by one, expected guard=0",
        strategy);
  if (!unguarded.auxiliary_passes.empty())
    return fail("strategy {}: its guard goes by the time of its own passes, too, expected guard=0", strategy);
  // A draft after a vanilla round begins elsewhere, so that it may be longer than all without a guard.
  const auto priced_up_to = [&](std::int32_t widths) {
    return prices_of(trained, unguarded, machine, widths);
  };
  DRAFTSCOPE_TRY_ASSIGN(const PriceMap priced, priced_up_to(widest_verification(unguarded.setting)));
  const auto guarded_with = [&](const Prices& prices, NoisyClock clock) {
    return guarded_by(trained, strategy, alone, PricedGuard(guarded.guard(), prices, clock));
  };
  DRAFTSCOPE_TRY_ASSIGN(Guarded quiet, guarded_with(priced.mean(), NoisyClock({})));
  StrategyRounds rounds = std::move(quiet.rounds);
  add_note(quiet, unguarded, rounds);
  const std::vector<double> noise = recorded_noise(trained.runs, machine);
  const ClockedReplay replay = [&](const Prices& prices,
                                   NoisyClock clock) -> Result<std::vector<RoundStatistics>> {
    DRAFTSCOPE_TRY_ASSIGN(Guarded noisy, guarded_with(prices, clock));
    return std::move(noisy.rounds.setting.min_drafted);
  };
  const MeanPrices mean = [&](std::int32_t widths) {
    return priced_up_to(widths).map([](const PriceMap& map) { return map.mean(); });
  };
  DRAFTSCOPE_TRY_ASSIGN(rounds.setting.max_drafted,
                        farthest_case(priced, mean, noise, rounds.setting.min_drafted, replay));
  if (!rounds.setting.max_drafted.empty()) rounds.notes.push_back(clocked_note(noise));
  return rounds;
}

}  // namespace draftscope::simulator
