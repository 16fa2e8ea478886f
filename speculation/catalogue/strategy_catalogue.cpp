// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>
#include <draftscope/speculation/catalogue/strategy_catalogue.h>

#include <draftscope/base/number.h>
#include <draftscope/speculation/weight_format.h>
#include <algorithm>

#include "strategies/row.h"

namespace draftscope::speculation {

namespace {

template <typename Rows>
auto find_named(Rows& rows, std::string_view name) {
  return std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.name == name; });
}

ParameterRow weights_parameter() {
  std::vector<std::string> formats{std::string(own_weights)};
  for (const WeightFormatRow& row : weight_formats())
    if (row.made_by != MadeBy::none) formats.emplace_back(row.name);
  return choice("weights", std::string(own_weights), std::move(formats),
                "what the draft computes on: as-held, the target's own; or a copy of them in fewer bits, of "
                "blocks of 32 (cpu; on a GPU q8_0 and q4_0), or in fp8, fp8_block, q4_k or int4 (cuda)");
}

}  // namespace

std::string_view parameter_type_name(ParameterType type) {
  constexpr std::array<std::string_view, 5> names{"integer", "number", "choice", "text", "layers"};
  return names[static_cast<std::size_t>(type)];
}

std::string_view part_kind_name(PartKind kind) {
  constexpr std::array<std::string_view, part_kind_count> names{"mask", "length", "stop", "shape"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view replay_needs_name(ReplayNeeds needs) {
  constexpr std::array<std::string_view, 3> names{"texts", "shadow tokens", "impossible"};
  return names[static_cast<std::size_t>(needs)];
}

const PartRow* StrategyCatalogue::find_part(PartKind kind, std::string_view name) const {
  for (const PartRow& row : parts_)
    if (row.kind == kind && row.name == name) return &row;
  return nullptr;
}

const StrategyRow* StrategyCatalogue::find(std::string_view name) const {
  for (const StrategyRow& row : strategies_)
    if (row.name == name) return &row;
  return nullptr;
}

std::vector<std::string> StrategyCatalogue::part_names(PartKind kind) const {
  std::vector<std::string> names;
  for (const PartRow& row : parts_)
    if (row.kind == kind) names.push_back(row.name);
  return names;
}

bool StrategyCatalogue::can_verify_above_exit(const PartNames& parts) const {
  const PartRow* mask = find_part(PartKind::mask, parts.front());
  return mask != nullptr &&
         (mask->layers == MaskLayers::below_exit || mask->layers == MaskLayers::below_chosen_exit);
}

std::vector<ParameterRow> StrategyCatalogue::parameters_of(const PartNames& parts) const {
  std::vector<ParameterRow> parameters;
  for (std::size_t kind = 0; kind < parts.size(); ++kind) {
    const PartRow* part = find_part(static_cast<PartKind>(kind), parts[kind]);
    if (part == nullptr) continue;
    for (const ParameterRow& parameter : part->parameters)
      if (find_named(parameters, parameter.name) == parameters.end()) parameters.push_back(parameter);
  }
  const auto verify = find_named(parameters, "verify");
  if (verify != parameters.end() && !can_verify_above_exit(parts)) {
    // Older recordings state this choice.
    verify->choices = {"all-layers"};
    verify->meaning = "all-layers: above-exit is for an early exit";
  }
  return parameters;
}

std::string StrategyCatalogue::no_replay_of(const PartNames& parts) const {
  for (std::size_t kind = 0; kind < parts.size(); ++kind) {
    const PartRow* part = find_part(static_cast<PartKind>(kind), parts[kind]);
    if (part != nullptr && !part->no_replay.empty()) return part->no_replay;
  }
  return {};
}

ParameterRow StrategyCatalogue::choice_of_part(PartKind kind, const std::string& default_part) const {
  std::vector<std::string> names = part_names(kind);
  std::string meaning = "one of: ";
  for (const std::string& name : names) meaning += (name == names.front() ? "" : ", ") + name;
  return choice(std::string(part_kind_name(kind)), default_part, std::move(names), std::move(meaning));
}

void StrategyCatalogue::add(PartRow row) {
  if (row.kind == PartKind::mask) row.parameters.push_back(weights_parameter());
  parts_.push_back(std::move(row));
}

Result<void> StrategyCatalogue::add(StrategyRow row) {
  if (find(row.name) != nullptr) return fail("strategy {}: is there already, expected a new name", row.name);
  if (row.chooses_parts)
    for (std::size_t kind = 0; kind < part_kind_count; ++kind)
      row.parameters.push_back(choice_of_part(static_cast<PartKind>(kind), row.parts[kind]));
  if (row.has_parts()) {
    for (std::size_t kind = 0; kind < part_kind_count; ++kind)
      if (find_part(static_cast<PartKind>(kind), row.parts[kind]) == nullptr)
        return fail("strategy {}: found {}={}, expected a part of the catalogue", row.name,
                    part_kind_name(static_cast<PartKind>(kind)), row.parts[kind]);
    row.no_replay = no_replay_of(row.parts);
    row.replay_needs = row.no_replay.empty() ? ReplayNeeds::shadow_tokens : ReplayNeeds::impossible;
    if (!row.chooses_parts)
      for (ParameterRow& parameter : parameters_of(row.parts)) row.parameters.push_back(std::move(parameter));
  }
  if (row.has_guard) row.parameters.push_back(guard_parameter());
  for (const auto& [name, value] : row.defaults) {
    const auto parameter = find_named(row.parameters, name);
    if (parameter == row.parameters.end())
      return fail("strategy {}: has a default for {}, expected a parameter of its parts", row.name,
                  quote(name));
    parameter->default_value = value;
  }
  strategies_.push_back(std::move(row));
  return {};
}

const StrategyCatalogue& strategy_catalogue() {
  static const StrategyCatalogue shipped = [] {
    StrategyCatalogue catalogue;
    std::vector<StrategyRows> folders = every_row();
    for (std::size_t kind = 0; kind < part_kind_count; ++kind)
      for (const StrategyRows& rows : folders)
        for (const PartRow& part : rows.parts)
          if (part.kind == static_cast<PartKind>(kind)) catalogue.add(part);
    // A test calls add() on every row that ships, so it cannot fail here.
    for (StrategyRows& rows : folders)
      for (StrategyRow& row : rows.strategies) (void)catalogue.add(std::move(row));
    return catalogue;
  }();
  return shipped;
}

const StrategyRow& strategy_row(std::string_view name) {
  static const StrategyRow unknown;
  const StrategyRow* row = strategy_catalogue().find(name);
  return row == nullptr ? unknown : *row;
}

bool verifies_above_exit_by_default(std::string_view strategy) {
  const StrategyRow* row = strategy_catalogue().find(strategy);
  if (row == nullptr) return false;
  const auto verify = find_named(row->parameters, "verify");
  return verify != row->parameters.end() && verify->default_value == "above-exit";
}

std::string_view current_parameter_name(std::string_view strategy, std::string_view parameter) {
  const StrategyCatalogue& catalogue = strategy_catalogue();
  const StrategyRow* row = catalogue.find(strategy);
  if (row == nullptr || parameter.empty()) return parameter;
  for (const ParameterRow& known : row->parameters)
    if (known.earlier_name == parameter) return known.name;
  if (!row->chooses_parts) return parameter;
  for (const PartRow& part : catalogue.parts())
    for (const ParameterRow& known : part.parameters)
      if (known.earlier_name == parameter) return known.name;
  return parameter;
}

std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers) {
  if (!text.starts_with('L')) return parse_number<std::int64_t>(text);
  if (text.size() == 1) return n_layers;
  const auto by = parse_number<std::int64_t>(text.substr(2));
  if (!by) return std::nullopt;
  if (text[1] == '-') return n_layers - *by;
  if (text[1] == '/' && *by > 0) return n_layers / *by;
  return std::nullopt;
}

}  // namespace draftscope::speculation
