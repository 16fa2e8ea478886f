// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// ASCII letters and white space of a text, the same in every locale; other bytes stay as they are. Pure
// functions, safe from any thread.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace draftscope {

[[nodiscard]] constexpr char in_lower_case(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

[[nodiscard]] inline std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char letter) { return in_lower_case(letter); });
  return lower;
}

/// The text without spaces, tabs and line ends at its ends.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(spaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(spaces) - begin + 1);
}

}  // namespace draftscope
