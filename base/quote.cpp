// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/base/quote.h>

#include <fmt/format.h>
#include <iterator>

namespace draftscope {

std::string quote(std::string_view text) {
  constexpr std::size_t longest = 120;
  std::string quoted = "'";
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      fmt::format_to(std::back_inserter(quoted), "\\x{:02x}", byte);
    else
      quoted += c;
  }
  quoted += text.size() > longest ? "…'" : "'";
  return quoted;
}

}  // namespace draftscope
