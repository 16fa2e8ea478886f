// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numbers and sets of layers as the catalogue and specifications write them.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace draftscope::speculation {

/// The whole text as a number; nothing if it is none.
template <typename Number>
[[nodiscard]] std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "63", "L", "L-1" or "L/4", rounded down; nothing for any other text.
[[nodiscard]] std::optional<std::int64_t> bound_of(std::string_view text, std::int32_t n_layers);

/// "every-2" as "1+3+5+…", or "none" if there is no such layer. Nothing for any other text; an empty text for
/// "every-" without a number from 1.
[[nodiscard]] std::optional<std::string> every_layer_of(std::string_view text, std::int32_t n_layers);

}  // namespace draftscope::speculation
