// SPDX-License-Identifier: GPL-3.0-or-later
#include "drafts/run_specification.h"

#include <draftscope/base/quote.h>
#include <draftscope/simulator/hardware/gpu.h>
#include <draftscope/simulator/hardware/scenario.h>

#include <nlohmann/json.hpp>
#include <string>

namespace draftscope::simulator {

Result<speculation::StrategySpecification> run_specification(const traces::Run& run, std::int32_t n_layers) {
  if (run.strategy == "tuned") {
    const auto json = nlohmann::json::parse(run.parameters, nullptr, false);
    const bool is_complete = json.is_object() && json.contains("strategy") && json["strategy"].is_string() &&
                             json.contains("parameters");
    if (!is_complete)
      return fail("run {}: parameters are {}, expected strategy and parameters of what was tuned", run.id,
                  quote(run.parameters));
    return speculation::parse_strategy_json(
        speculation::strategy_name(json["strategy"].get_ref<const std::string&>()), json["parameters"].dump(),
        n_layers);
  }
  // Imported runs state no parameters.
  if (run.parameters == "{}" || run.parameters.empty())
    return speculation::parse_strategy(run.specification, n_layers);
  return speculation::parse_strategy_json(run.strategy, run.parameters, n_layers);
}

double draft_weights_share(const traces::Run& run, const traces::Meta& meta, std::int32_t n_layers) {
  if (run.parameters.find("\"weights\"") == std::string::npos) return 1.0;
  const auto specification = run_specification(run, n_layers);
  if (!specification || !specification->draft_weights()) return 1.0;
  const auto target_bits = recorded_weight_bits(meta);
  return target_bits ? speculation::weight_format_row(*specification->draft_weights()).bits / *target_bits
                     : 1.0;
}

}  // namespace draftscope::simulator
