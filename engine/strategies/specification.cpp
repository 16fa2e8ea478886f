// SPDX-License-Identifier: GPL-3.0-or-later
#include "strategies/specification.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace draftscope::engine {

namespace {

bool to_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

bool to_number(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

std::string known_keys(const StrategyDescription& description) {
  std::string keys;
  for (const ParameterDescription& parameter : description.parameters)
    keys += (keys.empty() ? "" : ", ") + parameter.name;
  return keys.empty() ? "none" : keys;
}

}  // namespace

Result<Parameters> Parameters::parse(const StrategyDescription& description, std::string_view text) {
  Parameters parameters;
  parameters.description_ = description;
  for (const ParameterDescription& parameter : description.parameters)
    parameters.values_[parameter.name] = parameter.default_value;

  for (bool more = !text.empty(); more;) {
    const std::string_view item = text.substr(0, text.find(','));
    more = item.size() < text.size();
    text.remove_prefix(item.size() + (more ? 1 : 0));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail("strategy {}: found \"{}\", expected key=value", description.name, item);
    const std::string key(item.substr(0, equals));
    if (!parameters.values_.contains(key))
      return fail("strategy {}: unknown parameter \"{}\", expected one of: {}", description.name, key,
                  known_keys(description));
    if (!parameters.given_.insert(key).second)
      return fail("strategy {}: parameter \"{}\" is given twice", description.name, key);
    parameters.values_[key] = item.substr(equals + 1);
  }
  return parameters;
}

void Parameters::set_default(std::string_view key, std::int64_t value) {
  if (!given_.contains(key)) values_[std::string(key)] = std::to_string(value);
}

Result<std::int32_t> Parameters::integer(std::string_view key, std::int32_t least, std::int32_t most) const {
  const std::string& text = values_.find(key)->second;
  std::int64_t value = 0;
  if (!to_integer(text, value) || value < least || value > most)
    return fail("strategy {}: {} is \"{}\", expected an integer from {} to {}", description_.name, key, text,
                least, most);
  return static_cast<std::int32_t>(value);
}

Result<double> Parameters::number(std::string_view key, double least, double most) const {
  const std::string& found = text(key);
  double value = 0.0;
  // Written so that a NaN fails.
  if (!to_number(found, value) || !(value >= least && value <= most))
    return fail("strategy {}: {} is \"{}\", expected a number from {} to {}", description_.name, key, found,
                least, most);
  return value;
}

const std::string& Parameters::text(std::string_view key) const {
  return values_.find(key)->second;
}

Result<std::string> Parameters::one_of(std::string_view key,
                                       std::initializer_list<std::string_view> choices) const {
  const std::string& text = values_.find(key)->second;
  if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
  std::string expected;
  for (const std::string_view choice : choices) (expected += expected.empty() ? "" : ", ") += choice;
  return fail("strategy {}: {} is \"{}\", expected one of: {}", description_.name, key, text, expected);
}

std::string Parameters::json() const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const ParameterDescription& parameter : description_.parameters) {
    const std::string& text = values_.find(parameter.name)->second;
    std::int64_t integer = 0;
    double real = 0.0;
    if (to_integer(text, integer))
      object[parameter.name] = integer;
    else if (to_number(text, real) && std::isfinite(real))
      object[parameter.name] = real;
    else
      object[parameter.name] = text;
  }
  return object.dump();
}

std::string Parameters::specification() const {
  std::string text = description_.name;
  char separator = ':';
  for (const ParameterDescription& parameter : description_.parameters) {
    if (!given_.contains(parameter.name)) continue;
    text += separator + parameter.name + '=' + values_.find(parameter.name)->second;
    separator = ',';
  }
  return text;
}

}  // namespace draftscope::engine
