// SPDX-License-Identifier: GPL-3.0-or-later
#include "import/log_fields.h"

#include <draftscope/base/python_numbers.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace draftscope::traces {
namespace {

/// The text without the sequences that set a terminal's colours.
std::string without_colours(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t escape = std::min(text.find("\x1b["), text.size());
    plain += text.substr(0, escape);
    text.remove_prefix(escape);
    const std::size_t end = text.find_first_not_of("0123456789;?", std::min<std::size_t>(2, text.size()));
    text.remove_prefix(std::min(end == std::string_view::npos ? end : end + 1, text.size()));
  }
  return plain;
}

/// Adds the lines of all texts in the value.
void add_lines(const nlohmann::json& value, std::size_t depth, std::vector<std::string>& lines) {
  constexpr std::size_t max_depth = 4;
  if (value.is_object() && depth < max_depth)
    for (const nlohmann::json& member : value) add_lines(member, depth + 1, lines);
  if (!value.is_string()) return;
  std::string_view rest = value.get_ref<const std::string&>();
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    lines.push_back(without_colours(line));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
}

}  // namespace

Result<void> read_log_lines(const std::filesystem::path& file, const ImportProgress& progress,
                            const std::function<Result<void>(std::string_view, std::int64_t)>& take) {
  return read_text_lines(file, progress,
                         [&](std::string_view line, std::int64_t number, bool is_ended) -> Result<void> {
                           if (!is_ended && progress.may_be_cut) return {};
                           std::vector<std::string> lines;
                           if (line.starts_with('{'))
                             if (const auto json = parse_python_json(line, "", PythonNaN::missing))
                               add_lines(*json, 0, lines);
                           if (lines.empty()) lines.push_back(without_colours(line));
                           for (const std::string& one : lines) DRAFTSCOPE_TRY(take(one, number));
                           return {};
                         });
}

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
