// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/number.h>
#include <draftscope/speculation/catalogue/strategy_specification.h>

#include <nlohmann/json.hpp>

namespace draftscope::speculation {

const StrategySpecification::Value& StrategySpecification::value_of(std::string_view parameter) const {
  static const Value none;
  for (const Value& value : values_)
    if (value.parameter == parameter) return value;
  return none;
}

std::int32_t StrategySpecification::integer(std::string_view parameter) const {
  return parse_number<std::int32_t>(value_of(parameter).value).value_or(0);
}

double StrategySpecification::number(std::string_view parameter) const {
  return parse_number<double>(value_of(parameter).value).value_or(0.0);
}

const std::string& StrategySpecification::text(std::string_view parameter) const {
  return value_of(parameter).value;
}

const PartRow* StrategySpecification::part_row(PartKind kind) const {
  return strategy_catalogue().find_part(kind, part(kind));
}

bool StrategySpecification::drafts_with(MaskLayers layers) const {
  const PartRow* mask = part_row(PartKind::mask);
  return mask != nullptr && mask->layers == layers;
}

std::optional<WeightFormat> StrategySpecification::draft_weights() const {
  const std::string& name = text("weights");
  if (name.empty() || name == own_weights) return std::nullopt;
  const auto format = parse_weight_format(name);
  return format ? std::optional(*format) : std::nullopt;
}

double StrategySpecification::guard() const {
  return number("guard");
}

std::string StrategySpecification::given() const {
  std::string text = name_;
  char separator = ':';
  for (const Value& value : values_) {
    if (!value.is_given) continue;
    text += separator + value.parameter + '=' + value.as_given;
    separator = ',';
  }
  return text;
}

std::string StrategySpecification::json() const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Value& value : values_) {
    nlohmann::ordered_json& field = object[value.parameter];
    if (const auto integer = parse_number<std::int64_t>(value.value))
      field = *integer;
    else if (const auto real = parse_number<double>(value.value))
      field = *real;
    else
      field = value.value;
  }
  return object.dump();
}

}  // namespace draftscope::speculation
