// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// C++ types as suffixes of instructions, and lists of them that rows are made for.

#include <cstdint>
#include <string>
#include <type_traits>

namespace draftscope::ptx {

template <typename T>
std::string suffix() {
  const char kind = std::is_floating_point_v<T> ? 'f' : std::is_signed_v<T> ? 's' : 'u';
  return kind + std::to_string(8 * sizeof(T));
}
template <typename T>
std::string bit_suffix() {
  return std::is_same_v<T, bool> ? "pred" : "b" + std::to_string(8 * sizeof(T));
}

/// Calls `make.template operator()<T>()` for each type.
template <typename... T, typename Make>
void for_types(Make make) {
  (make.template operator()<T>(), ...);
}
template <typename Make>
void for_integers(Make make) {
  for_types<std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t, std::int64_t>(make);
}

}  // namespace draftscope::ptx
