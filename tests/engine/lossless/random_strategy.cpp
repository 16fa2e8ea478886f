// SPDX-License-Identifier: GPL-3.0-or-later
#include "random_strategy.h"

#include <draftscope/speculation/catalogue/strategy_specification.h>
#include <draftscope/speculation/strategy_text.h>

#include <algorithm>
#include <vector>

namespace draftscope::engine {

namespace {

using speculation::ParameterRow;
using speculation::ParameterType;
using speculation::StrategyRow;

using Formats = std::span<const std::string_view>;

/// A value of any size; the catalogue refuses what is out of bounds.
std::string random_value(const ParameterRow& parameter, Formats formats, std::mt19937& random) {
  if (parameter.name == "weights") return std::string(one_of(formats, random));
  if (!parameter.choices.empty()) return one_of(parameter.choices, random);
  static const std::vector<std::string> numbers{"0", "1e-9", "0.05", "0.2", "0.5", "0.9", "1", "4"};
  static const std::vector<std::string> sets{"every-2", "uniform", "random-1-3", "1", "0+1"};
  if (parameter.type == ParameterType::number) return one_of(numbers, random);
  if (parameter.type != ParameterType::integer) return one_of(sets, random);
  const auto pick = random() % 8;
  if (pick < 2) return pick == 0 ? parameter.min : parameter.max;
  return std::to_string(random() % (pick < 6 ? 8 : 200));
}

/// Adds a parameter, if the catalogue takes the specification with it.
void add(std::string& specification, std::string_view parameter, std::string_view value,
         std::int32_t n_layers) {
  std::string more = speculation::with_parameter(specification, parameter, value);
  if (speculation::parse_strategy(more, n_layers)) specification = std::move(more);
}

/// Adds random values of some parameters.
void add_random_values(std::string& specification, std::int32_t n_layers,
                       std::span<const ParameterRow> parameters, Formats formats, std::mt19937& random) {
  for (const ParameterRow& parameter : parameters) {
    if (random() % 2 == 0 || speculation::has_parameter(specification, parameter.name)) continue;
    if (parameter.name == "skip-set") continue;  // It names a file.
    if (parameter.name == "weights" && formats.empty()) continue;
    add(specification, parameter.name, random_value(parameter, formats, random), n_layers);
  }
}

std::string random_setting(const StrategyRow& row, std::int32_t n_layers, Formats formats,
                           std::mt19937& random) {
  const speculation::StrategyCatalogue& catalogue = speculation::strategy_catalogue();
  std::string text = row.name;
  if (row.chooses_parts)
    for (std::size_t kind = 0; kind < speculation::part_kind_count; ++kind) {
      const auto of_kind = static_cast<speculation::PartKind>(kind);
      add(text, speculation::part_kind_name(of_kind), one_of(catalogue.part_names(of_kind), random),
          n_layers);
    }
  for (const ParameterRow& parameter : row.parameters) {
    if (parameter.name == "policy") return "vanilla";  // It names another strategy.
    if (parameter.name == "model") text = speculation::with_parameter(text, "model", "draft");
  }
  const auto made = speculation::parse_strategy(text, n_layers);
  if (!made) return "vanilla";
  if (made->part(speculation::PartKind::mask) == "skip-set")
    text = speculation::with_parameter(text, "skip-attention", "every-2");
  add_random_values(text, n_layers, row.parameters, formats, random);
  if (row.chooses_parts)
    add_random_values(text, n_layers, catalogue.parameters_of(made->parts()), formats, random);
  return text;
}

}  // namespace

std::string random_strategy(std::int32_t n_layers, std::mt19937& random, Formats formats) {
  const auto& strategies = speculation::strategy_catalogue().strategies();
  return random_setting(strategies[random() % strategies.size()], n_layers, formats, random);
}

std::string random_mix(std::int32_t n_layers, std::mt19937& random, Formats formats) {
  const auto& strategies = speculation::strategy_catalogue().strategies();
  const auto mix = std::ranges::find_if(strategies, &StrategyRow::chooses_parts);
  return random_setting(*mix, n_layers, formats, random);
}

}  // namespace draftscope::engine
