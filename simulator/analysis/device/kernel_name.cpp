// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/device_timeline.h>

#include <cctype>

namespace draftscope::simulator {

namespace {

constexpr std::string_view anonymous = "(anonymous namespace)";

/// Leaves out qualifications and the space between closing brackets.
std::string without_namespaces(std::string_view name) {
  std::string text;
  std::size_t identifier = 0;  // Where the identifier under way begins in `text`.
  while (!name.empty()) {
    if (name.starts_with("::")) {
      text.resize(identifier);
      name.remove_prefix(2);
    } else if (name.starts_with(anonymous) && name.substr(anonymous.size()).starts_with("::")) {
      name.remove_prefix(anonymous.size());
    } else {
      const char letter = name.front();
      const bool continues = std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
      if (!name.starts_with(" >")) text += letter;
      if (!continues) identifier = text.size();
      name.remove_prefix(1);
    }
  }
  return text;
}

}  // namespace

std::string short_kernel_name(std::string_view name) {
  constexpr std::string_view entry = "entry<";
  if (name.find(anonymous) == std::string_view::npos && name.find('<') == std::string_view::npos)
    return std::string(name);
  const std::size_t colon = name.find(": ");
  const std::size_t begin = colon == std::string_view::npos ? 0 : colon + 2;
  std::string kernel = without_namespaces(name.substr(begin));
  if (kernel.starts_with(entry) && kernel.ends_with('>'))
    kernel = kernel.substr(entry.size(), kernel.size() - entry.size() - 1);
  return std::string(name.substr(0, begin)) + kernel;
}

std::string_view operation_of_kernel(std::string_view short_name) {
  if (const std::size_t colon = short_name.find(": "); colon != std::string_view::npos)
    return short_name.substr(0, colon);
  const std::size_t arguments = short_name.find('<');
  return arguments == 0 ? short_name : short_name.substr(0, arguments);
}

}  // namespace draftscope::simulator
