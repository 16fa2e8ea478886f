// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/answer.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "prices/passes/cost_prices.h"
#include "rounds/priced_scenario.h"

namespace draftscope::simulator {

namespace {

LayerCounts layer_counts(const StrategyRounds& rounds, const ModelShape& shape) {
  LayerCounts layers{.model = shape.n_layers, .drafts = {}};
  if (rounds.drafts.empty()) return layers;
  layers.drafts.push_back(0.0);
  for (const speculation::DraftSublayers& draft : rounds.drafts)
    layers.drafts.push_back(0.5 * (draft.attention + draft.mlp));
  return layers;
}

/// A guess without layers has no step; the ladder requires a count for it, but does not read it.
LayerCounts without_zeros(LayerCounts layers) {
  for (std::size_t exit = 1; exit < layers.drafts.size(); ++exit)
    if (layers.drafts[exit] == 0.0) layers.drafts[exit] = layers.model;
  return layers;
}

}  // namespace

Result<PassParts> pass_parts(const CostModel& trained, const StrategyRounds& rounds, const Machine& machine) {
  DRAFTSCOPE_TRY_ASSIGN(const Prices prices, answer_prices(trained, rounds, machine));
  // Only the answer's own model has to fit the device.
  const auto with_vocabularies = [&](std::int32_t count) {
    Scenario other = answer_scenario(rounds, machine);
    other.shape.vocab *= count;
    return simulator::prices(machine.costs_or(trained), other);
  };
  DRAFTSCOPE_TRY_ASSIGN(const Prices two, with_vocabularies(2));
  DRAFTSCOPE_TRY_ASSIGN(const Prices three, with_vocabularies(3));
  const double head_ns = std::max(three.target_step.ns - two.target_step.ns, 0.0);
  // With a single kind of draft, the fixed time can only be separated from that of layers by the target step,
  // whose layers are of the same kind. Early exits have every depth.
  const double fixed_ns =
      fixed_pass_ns(prices, layer_counts(rounds, machine.scenario.shape)).value_or(head_ns);
  double shortest_ns = prices.target_step.ns;
  for (const DraftStatistics& draft : sum_of(rounds.setting.min_drafted).drafts)
    if (draft.steps.passes > 0)
      shortest_ns = std::min(shortest_ns, prices.drafts[static_cast<std::size_t>(draft.exit)].step.ns);
  PassParts parts;
  parts.head_ns = std::min(head_ns, shortest_ns);
  parts.choice_ns = std::clamp(fixed_ns - parts.head_ns, 0.0, shortest_ns - parts.head_ns);
  return parts;
}

Result<Ladder> answer_ladder(const CostModel& trained, const StrategyRounds& rounds, const Machine& machine) {
  DRAFTSCOPE_TRY_ASSIGN(const Prices prices, answer_prices(trained, rounds, machine));
  DRAFTSCOPE_TRY_ASSIGN(const PassParts parts, pass_parts(trained, rounds, machine));
  DRAFTSCOPE_TRY_ASSIGN(const bool has_own, has_own_time(trained, rounds, machine));
  const RoundStatistics statistics = sum_of(rounds.setting.min_drafted);
  return correction_ladder(
      {.statistics = statistics,
       .vanilla = sum_of(rounds.vanilla),
       .prices = prices,
       .parts = parts,
       .layers = without_zeros(layer_counts(rounds, machine.scenario.shape)),
       .own_ratio = rounds.is_measured && has_own ? std::optional(rounds.own_ratio) : std::nullopt});
}

}  // namespace draftscope::simulator
