// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers that people write: options, parameters, fields of tables.

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string_view>

namespace draftscope {

template <typename T>
concept Number = (std::integral<T> && !std::same_as<T, bool>) || std::floating_point<T>;

/// Parses all of `text` as a decimal number: "12", "-3", for real types also "0.5" and "1e-3". None for
/// anything else, such as "", "+1", "0x10", "1 ", "inf" and "nan", or if it does not fit the type.
template <Number T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  if constexpr (std::floating_point<T>)
    if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace draftscope
