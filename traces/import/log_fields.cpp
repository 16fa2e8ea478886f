// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/log_fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace draftscope::traces {

LogFields log_fields_of(std::string_view text) {
  LogFields fields;
  std::vector<double>* values = nullptr;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(", "));
    text.remove_prefix(std::min(part.size() + 2, text.size()));
    if (const std::size_t colon = part.find(": "); colon != std::string_view::npos) {
      values = &fields[std::string(part.substr(0, colon))];
      part.remove_prefix(colon + 2);
    }
    while (part.starts_with('[') || part.starts_with(' ')) part.remove_prefix(1);
    double value = 0.0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (values != nullptr && error == std::errc() && std::isfinite(value)) values->push_back(value);
  }
  return fields;
}

std::optional<double> log_field(const LogFields& fields, std::string_view name) {
  const auto found = fields.find(name);
  return found == fields.end() || found->second.empty() ? std::nullopt : std::optional(found->second.front());
}

}  // namespace draftscope::traces
