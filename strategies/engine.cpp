// SPDX-License-Identifier: GPL-3.0-or-later
// Turns a specification, and the parts that it names, into objects that decode.
#include "strategies/engine.h"

#include <algorithm>
#include <string>
#include <utility>

#include "strategies/engine_rules.h"
#include "strategies/parts/rule.h"

namespace draftscope::engine {

namespace {

using speculation::ModelShape;
using speculation::PartKind;
using speculation::StrategySpecification;

const std::vector<StrategyMakers>& folders() {
  static const std::vector<StrategyMakers> all = every_engine();
  return all;
}

/// The maker of a part; null if there is none.
const PartMaker* maker_of(PartKind kind, std::string_view name) {
  for (const StrategyMakers& folder : folders())
    for (const PartMaker& maker : folder.parts)
      if (maker.kind == kind && maker.name == name) return &maker;
  return nullptr;
}

/// The maker of a strategy; null if there is none.
const StrategyMaker* maker_of(std::string_view name) {
  for (const StrategyMakers& folder : folders())
    for (const StrategyMaker& maker : folder.strategies)
      if (maker.name == name) return &maker;
  return nullptr;
}

bool add_length_rule(const StrategySpecification& mix, Parts& parts) {
  const auto rule = speculation::length_rule(mix);
  if (rule) parts.length = learn(parts, std::make_shared<LengthByRule>(*rule));
  return rule.has_value();
}

/// Makes a mix of the specification's parts.
Result<std::unique_ptr<Strategy>> make_mix(const StrategySpecification& mix, const ModelShape& shape) {
  Parts parts;
  parts.weights = mix.draft_weights();
  for (std::size_t i = 0; i < speculation::part_kind_count; ++i) {
    const auto kind = static_cast<PartKind>(i);
    if (const PartMaker* maker = maker_of(kind, mix.part(kind))) {
      DRAFTSCOPE_TRY(maker->add(mix, shape, parts));
      continue;
    }
    const bool is_added = (kind == PartKind::length && add_length_rule(mix, parts)) ||
                          (kind == PartKind::stop && add_threshold_rule(mix, parts));
    if (!is_added)
      return fail("strategy {}: found {}={}, expected a part that the engine knows", mix.name(),
                  speculation::part_kind_name(kind), mix.part(kind));
  }
  return make_mixed(std::move(parts));
}

Result<std::unique_ptr<Strategy>> make(const StrategySpecification& specification, const ModelShape& shape,
                                       const StrategyResources& resources) {
  if (specification.has_parts()) return make_mix(specification, shape);
  const StrategyMaker* maker = maker_of(specification.name());
  if (maker == nullptr)
    return fail("strategy {}: found nothing that decodes by it, expected one that the engine makes",
                specification.name());
  return maker->make(specification, shape, resources);
}

}  // namespace

bool add_threshold_rule(const StrategySpecification& mix, Parts& parts) {
  const auto rule = speculation::threshold_rule(mix);
  if (rule) parts.threshold = learn(parts, std::make_shared<ThresholdByRule>(*rule));
  return rule.has_value();
}

Result<ConfiguredStrategy> make_strategy(const StrategySpecification& specification, const ModelShape& shape,
                                         const StrategyResources& resources) {
  const StrategyMaker* maker = maker_of(specification.name());
  if (maker != nullptr && maker->configure != nullptr)
    return maker->configure(specification, shape, resources);
  const bool is_completed = maker != nullptr && maker->completed != nullptr;
  // The run's parameters include the content of the file, for replays without it.
  DRAFTSCOPE_TRY_ASSIGN(const auto made, is_completed ? maker->completed(specification, shape)
                                                      : Result<StrategySpecification>(specification));
  DRAFTSCOPE_TRY_ASSIGN(auto strategy, make(made, shape, resources));
  if (made.guard() > 0.0) strategy = make_guarded(std::move(strategy), made.guard(), shape.n_layers);
  std::string note = maker != nullptr && maker->note != nullptr ? maker->note(specification, resources) : "";
  return ConfiguredStrategy{.name = specification.name(),
                            .specification = specification.given(),
                            .parameters = made.json(),
                            .is_vanilla = speculation::strategy_row(specification.name()).is_baseline,
                            .note = std::move(note),
                            .strategy = std::move(strategy)};
}

Result<ConfiguredStrategy> make_strategy(std::string_view specification, const ModelShape& shape,
                                         const StrategyResources& resources) {
  DRAFTSCOPE_TRY_ASSIGN(const auto parsed, speculation::parse_strategy(specification, shape.n_layers));
  return make_strategy(parsed, shape, resources);
}

}  // namespace draftscope::engine
