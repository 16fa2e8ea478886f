// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>

#include <fmt/format.h>
#include <algorithm>
#include <iterator>

namespace draftscope {

std::string excerpt(std::string_view text) {
  constexpr std::size_t max_bytes = 120;
  std::size_t shown = std::min(text.size(), max_bytes);
  if (shown < text.size())  // A character is shown whole or not at all.
    while (shown > 0 && (static_cast<unsigned char>(text[shown]) & 0xC0U) == 0x80U) --shown;
  std::string result;
  for (const char c : text.substr(0, shown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", byte);
    else
      result += c;
  }
  if (shown < text.size()) result += "…";
  return result;
}

std::string quote(std::string_view text) {
  return "'" + excerpt(text) + "'";
}

}  // namespace draftscope
