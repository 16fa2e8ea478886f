// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategy_text.h"

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <fmt/format.h>

#include <algorithm>

namespace draftscope::gui {

namespace {

using speculation::ParameterRow;
using speculation::ParameterType;
using speculation::PartKind;
using speculation::StrategyRow;

// Max layers of any model; used if the depth is unknown, so that no value is refused because of it.
constexpr std::int32_t deepest_model = 1024;

bool is_named(const ParameterRow& parameter, std::string_view name) {
  return parameter.name == name || (!parameter.earlier_name.empty() && parameter.earlier_name == name);
}

/// Parts that the strategy consists of, as its text chooses them.
speculation::PartNames parts_of(const StrategyRow& row, const StrategyText& strategy) {
  speculation::PartNames parts = row.parts;
  if (!row.chooses_parts) return parts;
  for (std::size_t kind = 0; kind < speculation::part_kind_count; ++kind)
    for (const auto& [key, value] : strategy.given)
      if (key == speculation::part_kind_name(static_cast<PartKind>(kind))) parts[kind] = value;
  return parts;
}

std::string bound_text(const std::string& bound, std::int32_t n_layers) {
  const auto number = n_layers > 0 ? speculation::bound_of(bound, n_layers) : std::nullopt;
  return number ? std::to_string(*number) : bound;
}

}  // namespace

StrategyText strategy_text_of(std::string_view text) {
  StrategyText strategy{std::string(speculation::strategy_name(text)), {}};
  std::string_view rest = text.substr(std::min(strategy.name.size() + 1, text.size()));
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
    const std::size_t equals = piece.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    strategy.given.emplace_back(piece.substr(0, equals), piece.substr(equals + 1));
  }
  return strategy;
}

std::string text_of(const StrategyText& strategy) {
  std::string text = strategy.name;
  char separator = ':';
  for (const auto& [key, value] : strategy.given) {
    text += fmt::format("{}{}={}", separator, key, value);
    separator = ',';
  }
  return text;
}

std::vector<ParameterRow> parameters_of(const StrategyText& strategy) {
  const speculation::StrategyCatalogue& catalogue = speculation::strategy_catalogue();
  const StrategyRow* row = catalogue.find(strategy.name);
  if (row == nullptr) return {};
  std::vector<ParameterRow> parameters = row->parameters;
  if (row->chooses_parts)
    for (ParameterRow& parameter : catalogue.parameters_of(parts_of(*row, strategy)))
      parameters.push_back(std::move(parameter));
  return parameters;
}

const std::string* given_value(const StrategyText& strategy, const ParameterRow& parameter) {
  for (const auto& [key, value] : strategy.given)
    if (is_named(parameter, key)) return &value;
  return nullptr;
}

std::string with_value(std::string_view text, const ParameterRow& parameter, const std::string& value) {
  StrategyText strategy = strategy_text_of(text);
  const auto found = std::find_if(strategy.given.begin(), strategy.given.end(),
                                  [&](const auto& item) { return is_named(parameter, item.first); });
  if (value.empty() && found != strategy.given.end())
    strategy.given.erase(found);
  else if (!value.empty() && found != strategy.given.end())
    *found = {parameter.name, value};
  else if (!value.empty())
    strategy.given.emplace_back(parameter.name, value);
  const std::vector<ParameterRow> known = parameters_of(strategy);
  std::erase_if(strategy.given, [&](const auto& item) {
    return std::none_of(known.begin(), known.end(),
                        [&](const ParameterRow& row) { return is_named(row, item.first); });
  });
  return text_of(strategy);
}

std::string range_text(const ParameterRow& parameter, std::int32_t n_layers) {
  std::string text = parameter.unit;
  if (!parameter.min.empty())
    text = fmt::format("{} to {}{}{}", bound_text(parameter.min, n_layers),
                       bound_text(parameter.max, n_layers), text.empty() ? "" : " ", text);
  return text;
}

std::string default_text(const ParameterRow& parameter, std::int32_t n_layers) {
  if (parameter.type != ParameterType::integer || n_layers <= 0) return parameter.default_value;
  const auto number = speculation::bound_of(parameter.default_value, n_layers);
  if (!number) return parameter.default_value;
  const auto min = speculation::bound_of(parameter.min, n_layers);
  const auto max = speculation::bound_of(parameter.max, n_layers);
  return std::to_string(std::max(min.value_or(*number), std::min(max.value_or(*number), *number)));
}

std::optional<std::string> problem_of_strategy(std::string_view text, std::int32_t n_layers) {
  const auto parsed = speculation::parse_strategy(text, n_layers > 0 ? n_layers : deepest_model);
  if (parsed) return std::nullopt;
  return parsed.error().message;
}

}  // namespace draftscope::gui
