// SPDX-License-Identifier: GPL-3.0-or-later
#include "analysis/run_specification.h"

#include <draftscope/base/quote.h>
#include <draftscope/simulator/analysis/gpu.h>
#include <draftscope/simulator/analysis/measured_recording.h>
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

std::vector<std::pair<std::string_view, std::string_view>> given_parameters(std::string_view specification) {
  std::vector<std::pair<std::string_view, std::string_view>> given;
  const std::size_t name = speculation::strategy_name(specification).size();
  std::string_view rest = specification.substr(std::min(name + 1, specification.size()));
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::size_t equals = std::min(item.find('='), item.size());
    given.emplace_back(item.substr(0, equals), item.substr(std::min(equals + 1, item.size())));
  }
  return given;
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

nlohmann::json meta_object(const traces::Meta& meta, const std::string& key) {
  nlohmann::json json = nlohmann::json::parse(meta_value(meta, key), nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

LayerSetsById layer_sets_by_id(const traces::Recording& recording) {
  LayerSetsById sets;
  for (const traces::LayerSet& set : recording.layer_sets) sets.emplace(set.id, &set);
  return sets;
}

bool is_skipped(const traces::LayerSet& set, std::int32_t sublayer) {
  const auto byte = static_cast<std::size_t>(sublayer) / 8;
  return byte < set.skipped.size() && ((set.skipped[byte] >> (sublayer % 8)) & 1) != 0;
}

speculation::DraftSublayers kept_sublayers(const traces::LayerSet& set) {
  speculation::DraftSublayers kept;
  for (std::int32_t layer = 0; layer < set.n_layers; ++layer) {
    if (!is_skipped(set, 2 * layer)) ++kept.attention;
    if (!is_skipped(set, 2 * layer + 1)) ++kept.mlp;
  }
  return kept;
}

speculation::DraftSublayers draft_with(const traces::LayerSet* set, const DraftWeights& weights) {
  speculation::DraftSublayers draft = set == nullptr ? speculation::DraftSublayers{} : kept_sublayers(*set);
  draft.weights = weights.format(set == nullptr ? std::string_view() : set->origin);
  return draft;
}

}  // namespace draftscope::simulator
