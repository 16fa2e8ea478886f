// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/question_names.h>

#include <draftscope/base/number.h>
#include <draftscope/simulator/analysis/measured_recording.h>
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/run_specification.h"

namespace draftscope::simulator {

namespace {

using RequestsByValue = std::map<std::string, std::size_t>;

std::string requests_text(const RequestsByValue& requests, std::size_t all) {
  constexpr std::size_t max_values = 3;
  constexpr std::size_t max_bytes = 24;
  if (requests.size() <= max_values &&
      std::ranges::all_of(requests, [](const auto& row) { return row.first.size() <= max_bytes; })) {
    std::string text;
    for (const auto& [value, count] : requests)
      text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", value, count);
    return text + fmt::format(" of {} requests", all);
  }
  std::map<double, std::string> numbers;
  for (const auto& [value, count] : requests)
    if (const auto number = parse_number<double>(value)) numbers.emplace(*number, value);
  if (numbers.size() < requests.size()) return fmt::format("(values: {})", requests.size());
  return fmt::format("{} to {}", numbers.begin()->second, numbers.rbegin()->second);
}

}  // namespace

QuestionNames::QuestionNames(const traces::Meta& meta) {
  const nlohmann::json names = meta_object(meta, "question_names");
  for (const auto& [number, name] : names.items())
    if (const auto id = parse_number<std::int64_t>(number); id && name.is_string())
      names_.emplace(*id, name.get<std::string>());
}

const std::string& QuestionNames::name(std::int64_t question_id) const {
  static const std::string none;
  const auto found = names_.find(question_id);
  return found == names_.end() ? none : found->second;
}

std::string QuestionNames::label(const traces::Prompt& prompt) const {
  std::string label = fmt::format("{}", prompt.question_id);
  if (prompt.turn > 0) label += fmt::format(".{}", prompt.turn + 1);
  const std::string& named = name(prompt.question_id);
  return named.empty() ? label : fmt::format("{} ({})", label, named);
}

std::string differing_settings(const traces::Meta& meta) {
  const std::string text = meta_value(meta, "question_settings");
  if (text.empty()) return {};
  const auto settings = nlohmann::json::parse(text, nullptr, false);
  if (!settings.is_object())
    return "question_settings is no JSON object, expected the settings of each request";
  std::map<std::string, RequestsByValue> requests;  // [key]
  for (const auto& own : settings) {
    if (!own.is_object()) continue;
    for (const auto& [key, value] : own.items())
      ++requests[key][value.is_string() ? value.get<std::string>() : value.dump()];
  }
  std::string line;
  for (const auto& [key, by_value] : requests) {
    if (by_value.begin()->second == settings.size()) continue;
    std::string name = key;
    std::ranges::replace(name, '_', ' ');
    line += fmt::format("{}{} {}", line.empty() ? "" : "; ", name, requests_text(by_value, settings.size()));
  }
  return line;
}

}  // namespace draftscope::simulator
