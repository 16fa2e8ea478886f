// SPDX-License-Identifier: GPL-3.0-or-later
// tuned: runs the setting that `draftscope tune` found for this model.

#include <draftscope/engine/tuning/policy.h>

#include <draftscope/base/quote.h>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "strategies/engine.h"

namespace draftscope::engine {

namespace {

/// The run's parameters for a trace: the file, the strategy that it configured, and what to know about it.
std::string parameters_json(const std::string& file, const ConfiguredStrategy& inner,
                            const std::string& note) {
  nlohmann::ordered_json json{{"policy", file},
                              {"strategy", inner.specification},
                              {"parameters", nlohmann::ordered_json::parse(inner.parameters)}};
  if (!note.empty()) json["warning"] = note;
  return json.dump();
}

Result<ConfiguredStrategy> make_tuned(const speculation::StrategySpecification& specification,
                                      const speculation::ModelShape& shape,
                                      const StrategyResources& resources) {
  const std::string& file = specification.text("policy");
  if (file.empty())
    return fail("strategy tuned: policy is missing, expected a file that draftscope tune wrote");
  DRAFTSCOPE_TRY_ASSIGN(const Policy policy, read_policy(file));
  DRAFTSCOPE_TRY(check_policy_finished(policy, file));
  DRAFTSCOPE_TRY(check_policy_shape(policy, shape, file));
  if (speculation::strategy_row(speculation::strategy_name(policy.strategy)).names_another)
    return fail("{}: field strategy is {}, expected another strategy's", file, quote(policy.strategy));
  auto inner = make_strategy(policy.strategy, shape, resources);
  if (!inner) return fail("{}: field strategy: {}", file, inner.error().message);
  std::string note = other_checkpoint_note(policy, resources.checkpoint_hash, file);
  if (note.empty()) note = inner->note;
  return ConfiguredStrategy{.name = specification.name(),
                            .specification = specification.given(),
                            .parameters = parameters_json(file, *inner, note),
                            .is_vanilla = false,
                            .note = note,
                            .strategy = std::move(inner->strategy)};
}

}  // namespace

StrategyMakers engine_of_tuned() {
  return {.strategies = {{.name = "tuned", .configure = make_tuned}}};
}

}  // namespace draftscope::engine
