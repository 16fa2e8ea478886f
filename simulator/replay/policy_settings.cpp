// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay/policy_settings.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace draftscope::simulator {

Result<PolicySettings> PolicySettings::of_text(std::string_view strategy, std::string_view text) {
  PolicySettings settings;
  settings.strategy_ = strategy;
  for (bool more = !text.empty(); more;) {
    const std::string_view item = text.substr(0, text.find(','));
    more = item.size() < text.size();
    text.remove_prefix(item.size() + (more ? 1 : 0));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return fail("strategy {}: found \"{}\", expected key=value", strategy, item);
    const std::string key(item.substr(0, equals));
    if (!settings.values_.emplace(key, item.substr(equals + 1)).second)
      return fail("strategy {}: parameter \"{}\" is given twice", strategy, key);
  }
  return settings;
}

Result<PolicySettings> PolicySettings::of_json(std::string_view strategy, std::string_view json) {
  PolicySettings settings;
  settings.strategy_ = strategy;
  const nlohmann::json object = nlohmann::json::parse(json, nullptr, false);
  if (!object.is_object())
    return fail("strategy {}: parameters are \"{}\", expected a JSON object", strategy, json);
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string() && !value.is_number())
      return fail("strategy {}: parameter \"{}\" is neither a number nor a string", strategy, key);
    settings.values_[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return settings;
}

Result<std::int32_t> PolicySettings::integer(const std::string& key, std::int32_t least,
                                             std::int32_t most) const {
  const std::string& found = text(key);
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
  if (error != std::errc{} || end != found.data() + found.size() || value < least || value > most)
    return fail("strategy {}: {} is \"{}\", expected an integer from {} to {}", strategy_, key, found, least,
                most);
  return value;
}

Result<double> PolicySettings::number(const std::string& key, double least, double most) const {
  const std::string& found = text(key);
  double value = 0.0;
  const auto [end, error] = std::from_chars(found.data(), found.data() + found.size(), value);
  // Written so that a NaN fails.
  if (error != std::errc{} || end != found.data() + found.size() || !(value >= least && value <= most))
    return fail("strategy {}: {} is \"{}\", expected a number from {} to {}", strategy_, key, found, least,
                most);
  return value;
}

Result<std::size_t> PolicySettings::one_of(const std::string& key,
                                           std::initializer_list<std::string_view> choices) const {
  const std::string& found = text(key);
  std::string expected;
  std::size_t place = 0;
  for (const std::string_view choice : choices) {
    if (choice == found) return place;
    ++place;
    (expected += expected.empty() ? "" : ", ") += choice;
  }
  return fail("strategy {}: {} is \"{}\", expected one of: {}", strategy_, key, found, expected);
}

}  // namespace draftscope::simulator
