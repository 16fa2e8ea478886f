// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/run_specification.h"

#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/speculation/weight_format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace draftscope::simulator {

namespace {

bool names_above_exit(const nlohmann::json& parameters) {
  return parameters.is_object() && parameters.value("verify", nlohmann::json()) == "above-exit";
}

}  // namespace

Result<speculation::StrategySpecification> run_specification(const traces::Run& run, std::int32_t n_layers) {
  if (speculation::strategy_row(run.strategy).names_another) {
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

bool verifies_above_exit(const traces::Run& run) {
  const auto parameters = nlohmann::json::parse(run.parameters, nullptr, false);
  if (!parameters.is_object()) return false;
  return names_above_exit(parameters) || names_above_exit(parameters.value("parameters", nlohmann::json()));
}

DraftWeights::DraftWeights(const traces::Run& run, const traces::Meta& meta, std::int32_t n_layers)
    : target_bits_(recorded_weight_bits(meta).value_or(0.0)) {
  if (target_bits_ <= 0.0 || run.parameters.find("\"weights\"") == std::string::npos) return;
  const auto specification = run_specification(run, n_layers);
  if (specification) of_run_ = specification->draft_weights();
}

std::optional<speculation::WeightFormat> DraftWeights::format(std::string_view origin) const {
  if (target_bits_ <= 0.0) return std::nullopt;
  const speculation::WeightFormatRow* row = speculation::find_weight_format(origin);
  const std::optional<speculation::WeightFormat> format =
      row == nullptr ? of_run_ : std::optional(row->format);
  const bool is_own = format && speculation::weight_format_row(*format).bits != target_bits_;
  return is_own ? format : std::nullopt;
}

double DraftWeights::share(std::string_view origin) const {
  const auto own = format(origin);
  return own ? speculation::weight_format_row(*own).bits / target_bits_ : 1.0;
}

}  // namespace draftscope::simulator
