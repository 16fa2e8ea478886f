// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/analysis/question_names.h>

#include <draftscope/base/number.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace draftscope::simulator {

QuestionNames::QuestionNames(const traces::Meta& meta) {
  const auto row = meta.find("question_names");
  if (row == meta.end()) return;
  const auto json = nlohmann::json::parse(row->second, nullptr, false);
  if (!json.is_object()) return;
  for (const auto& [number, name] : json.items())
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

}  // namespace draftscope::simulator
