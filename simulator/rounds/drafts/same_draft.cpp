// SPDX-License-Identifier: GPL-3.0-or-later
#include "rounds/drafts/same_draft.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

using speculation::ParameterRow;
using speculation::PartKind;
using speculation::StrategySpecification;

constexpr std::array part_kinds{PartKind::mask, PartKind::length, PartKind::stop, PartKind::shape};

bool has_draft(const RunRows& run) {
  return std::ranges::any_of(run.requests, [](const RequestRows& rows) {
    return std::ranges::any_of(rows.rounds, [](const traces::Round& round) { return round.drafted > 0; });
  });
}

}  // namespace

ParameterRow parameter_row(const StrategySpecification& strategy, const std::string& parameter) {
  const auto find = [&](std::span<const ParameterRow> rows) {
    const auto row = std::ranges::find(rows, parameter, &ParameterRow::name);
    return row == rows.end() ? nullptr : &*row;
  };
  for (const PartKind kind : part_kinds)
    if (const speculation::PartRow* const part = strategy.part_row(kind))
      if (const auto* const row = find(part->parameters)) return *row;
  const auto* const row = find(speculation::strategy_row(strategy.name()).parameters);
  return row == nullptr ? ParameterRow() : *row;
}

std::string draft_key(const StrategySpecification& strategy) {
  if (drafts_with_next_token_layer(strategy.name())) return strategy.name();
  if (speculation::strategy_row(strategy.name()).drafts_with_other_model)
    return strategy.name() + ", model " + strategy.text("model");
  const speculation::PartRow* const mask = strategy.part_row(PartKind::mask);
  if (mask == nullptr || mask->layers == speculation::MaskLayers::below_chosen_exit) return {};
  std::string key = mask->name;
  for (const ParameterRow& parameter : mask->parameters)
    if (!parameter.is_of_search && (parameter.name != "weights" || strategy.draft_weights().has_value()))
      key +=
          (parameter.name == mask->name ? " " : ", " + parameter.name + " ") + strategy.text(parameter.name);
  return key;
}

std::vector<ParameterDifference> parameter_differences(const StrategySpecification& asked,
                                                       const StrategySpecification& recorded) {
  const auto values = nlohmann::json::parse(recorded.json());
  const auto parameters = nlohmann::json::parse(asked.json());
  const auto text_of = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  std::vector<ParameterDifference> differences;
  for (const auto& [name, value] : parameters.items())
    if (!values.contains(name))
      differences.push_back({name, text_of(value), "none"});
    else if (values[name] != value)
      differences.push_back({name, text_of(value), text_of(values[name])});
  return differences;
}

bool decodes_alike(const StrategySpecification& asked, const StrategySpecification& recorded, bool draws) {
  if (asked.parts() != recorded.parts()) return false;
  if (!asked.has_parts() && asked.name() != recorded.name()) return false;
  // The parameters by which a mix names its parts are no rules of their own.
  const auto names_part = [&](const std::string& name) {
    return asked.has_parts() && std::ranges::any_of(part_kinds, [&](PartKind kind) {
             return name == speculation::part_kind_name(kind);
           });
  };
  return std::ranges::all_of(parameter_differences(asked, recorded), [&](const ParameterDifference& other) {
    return names_part(other.name) || (!draws && parameter_row(asked, other.name).is_of_draws);
  });
}

std::vector<const RunRows*> runs_of_draft(std::span<const RunRows> runs, const std::string& key,
                                          std::int32_t n_layers) {
  std::vector<const RunRows*> found;
  for (const RunRows& run : runs) {
    if (run.run->is_baseline || !has_draft(run)) continue;
    const auto specification = run_specification(*run.run, n_layers);
    if (specification && draft_key(*specification) == key) found.push_back(&run);
  }
  return found;
}

}  // namespace draftscope::simulator
