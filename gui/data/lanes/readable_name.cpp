// SPDX-License-Identifier: GPL-3.0-or-later
#include "readable_name.h"

#include <cctype>

namespace draftscope::gui {

namespace {

constexpr std::string_view anonymous = "(anonymous namespace)::";
constexpr std::string_view entry = "draftscope::engine::cuda::(anonymous namespace)::entry<";

bool is_of_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Length of the namespace that `text` begins with, its colons included; 0 if it begins with none.
std::size_t namespace_length(std::string_view text) {
  if (text.starts_with(anonymous)) return anonymous.size();
  std::size_t length = 0;
  while (length < text.size() && is_of_identifier(text[length])) ++length;
  return length > 0 && text.substr(length).starts_with("::") ? length + 2 : 0;
}

}  // namespace

std::string readable_name(std::string_view name) {
  if (name.find(anonymous) == std::string_view::npos && name.find('<') == std::string_view::npos)
    return std::string(name);
  const std::size_t colon = name.find(": ");
  const std::size_t begin = colon == std::string_view::npos ? 0 : colon + 2;
  std::string short_name(name.substr(0, begin));
  name.remove_prefix(begin);
  if (name.starts_with(entry) && name.ends_with('>')) {
    name.remove_prefix(entry.size());
    name.remove_suffix(name.ends_with(" >") ? 2 : 1);
  }
  for (bool is_begun = false; !name.empty();) {
    if (const std::size_t length = is_begun ? 0 : namespace_length(name); length > 0) {
      name.remove_prefix(length);
      continue;
    }
    is_begun = is_of_identifier(name.front());
    if (!name.starts_with(" >") || !short_name.ends_with('>')) short_name += name.front();
    name.remove_prefix(1);
  }
  return short_name;
}

}  // namespace draftscope::gui
