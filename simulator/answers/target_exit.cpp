// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/what_if.h>

#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <draftscope/speculation/strategy_text.h>

#include <algorithm>
#include <cmath>

namespace draftscope::simulator {

Result<StrategyRounds> rounds_at_target_exit(const WhatIf& what_if, std::string_view strategy,
                                             const ModelShape& asked) {
  const ModelShape recorded = what_if.recorded_scenario().shape;
  const auto text = speculation::parameter_of(strategy, "exit");
  if (!text || recorded.n_layers == asked.n_layers) {
    DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if.rounds(strategy));
    return for_shape(std::move(rounds), recorded, asked);
  }
  const auto exit = parse_number<std::int32_t>(*text);
  if (!exit || *exit < 1 || *exit >= asked.n_layers)
    return fail("strategy {}: exit is {}, expected a layer of {} from 1 to {}", strategy, quote(*text),
                asked.name, asked.n_layers - 1);
  const double share = static_cast<double>(*exit) / asked.n_layers;
  const auto nearest = std::clamp(static_cast<std::int32_t>(std::lround(share * recorded.n_layers)),
                                  std::min(1, recorded.n_layers - 1), recorded.n_layers - 1);
  const std::string known =
      speculation::set_parameter(std::string(strategy), "exit", std::to_string(nearest));
  DRAFTSCOPE_TRY_ASSIGN(StrategyRounds rounds, what_if.rounds(known));
  rounds = for_shape(std::move(rounds), recorded, asked, *exit);
  rounds.strategy = strategy;
  return rounds;
}

}  // namespace draftscope::simulator
