// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Options that take numbers, which parse_number() of base/number.h reads: decimal, with a one-line error if
// one does not fit. Also options that take one of a few words.

#include <draftscope/base/json_field.h>
#include <draftscope/base/number.h>
#include <draftscope/base/quote.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace draftscope::cli {

template <Number T>
[[nodiscard]] std::string text_of(Range<T> range) {
  const Range<T> whole;
  const bool bounded_above = range.max != whole.max;
  if (range.min == whole.min) return bounded_above ? fmt::format("to {}", range.max) : "";
  return bounded_above ? fmt::format("from {} to {}", range.min, range.max)
                       : fmt::format("from {}", range.min);
}

/// Passes a number of the range on as plain decimal digits, since CLI11 would read "010" as eight and wrap
/// "-1" for unsigned types.
template <Number T>
[[nodiscard]] CLI::Validator number_in(Range<T> range) {
  const auto check = [range](std::string& text) -> std::string {
    const auto number = parse_number<T>(text);
    const std::string expected = text_of(range);
    if (number && *number >= range.min && *number <= range.max) {
      text = fmt::format("{}", *number);
      return {};
    }
    return fmt::format("found {}, expected {}{}{}", quote(text),
                       std::is_integral_v<T> ? "an integer" : "a number", expected.empty() ? "" : " ",
                       expected);
  };
  return {check, text_of(range)};
}

/// Adds an option without a default in its help.
template <Number T>
CLI::Option* add_unset_number(CLI::App& command, const std::string& names, T& value, const std::string& help,
                              std::type_identity_t<Range<T>> range = {}) {
  return command.add_option(names, value, help)->transform(number_in<T>(range));
}

/// Adds an option with its default in its help.
template <Number T>
CLI::Option* add_number(CLI::App& command, const std::string& names, T& value, const std::string& help,
                        std::type_identity_t<Range<T>> range = {}) {
  return add_unset_number(command, names, value, help, range)->capture_default_str();
}

/// Adds an option that takes several numbers, separated by commas.
template <Number T>
CLI::Option* add_numbers(CLI::App& command, const std::string& names, std::vector<T>& values,
                         const std::string& help, std::type_identity_t<Range<T>> range = {}) {
  return command.add_option(names, values, help)->delimiter(',')->transform(number_in<T>(range));
}

[[nodiscard]] inline CLI::Validator one_of(std::vector<std::string> words) {
  const std::string description = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("found {}, expected {}{}", quote(text), words.size() > 1 ? "one of " : "",
                       fmt::join(words, ", "));
  };
  return {check, description};
}

}  // namespace draftscope::cli
