// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Strategy specifications as text: name:key=value,…

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace draftscope::speculation {

/// The parameter's value as written; none if the specification does not give it.
[[nodiscard]] inline std::optional<std::string_view> parameter_of(std::string_view specification,
                                                                  std::string_view key) {
  for (std::size_t at = specification.find(':'); at != std::string_view::npos;
       at = specification.find(',', at + 1)) {
    const std::string_view item = specification.substr(at + 1);
    if (!item.starts_with(key) || !item.substr(key.size()).starts_with('=')) continue;
    const std::string_view value = item.substr(key.size() + 1);
    return value.substr(0, value.find(','));
  }
  return std::nullopt;
}

/// Whether the specification gives a parameter of this name.
[[nodiscard]] inline bool has_parameter(std::string_view specification, std::string_view key) {
  return parameter_of(specification, key).has_value();
}

/// Returns the specification with one more parameter.
[[nodiscard]] inline std::string with_parameter(std::string specification, std::string_view key,
                                                std::string_view value) {
  const bool first = specification.find(':') == std::string::npos;
  specification += first ? ":" : specification.ends_with(':') ? "" : ",";
  return specification.append(key).append("=").append(value);
}

/// Returns the specification with the parameter set to this value, whether it was given before or not.
[[nodiscard]] inline std::string set_parameter(std::string specification, std::string_view key,
                                               std::string_view value) {
  const auto given = parameter_of(specification, key);
  if (!given) return with_parameter(std::move(specification), key, value);
  const auto at = static_cast<std::size_t>(given->data() - specification.data());
  return specification.replace(at, given->size(), value);
}

}  // namespace draftscope::speculation
