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

/// The number that all of `text` is, in decimal: "12", "-3", for real types "0.5" and "1e-3" too. None if it
/// is anything else, as "", "+1", "0x10", "1 ", "inf" and "nan" are, or does not fit the type.
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
