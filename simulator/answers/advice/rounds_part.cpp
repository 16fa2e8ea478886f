// SPDX-License-Identifier: GPL-3.0-or-later
#include <draftscope/simulator/answers/rounds_part.h>

#include <fmt/format.h>
#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "answers/advice/prompt_order.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

namespace {

/// Prompt of each request; empty if the recording does not tell it.
std::vector<traces::PromptId> prompts_of(const StrategyRounds& rounds, const WhatIf& what_if,
                                         const traces::Recording& recording) {
  std::vector<traces::PromptId> prompts = rounds.prompts;
  if (prompts.empty()) prompts = table_prompts(what_if.trained().texts().tables, recording);
  if (prompts.size() != rounds.vanilla.size()) prompts.clear();
  return prompts;
}

/// Name of the part that each request belongs to.
std::vector<std::string> part_names(const StrategyRounds& rounds, PartBy by,
                                    const std::vector<traces::PromptId>& prompts,
                                    const traces::Recording& recording) {
  std::map<traces::PromptId, const traces::Prompt*> by_id;
  for (const traces::Prompt& prompt : recording.prompts) by_id.emplace(prompt.id, &prompt);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rounds.vanilla.size(); ++i) {
    if (by == PartBy::category) {
      names.push_back(i < rounds.categories.size() ? rounds.categories[i] : std::string());
      continue;
    }
    const auto prompt = i < prompts.size() ? by_id.find(prompts[i]) : by_id.end();
    if (prompt == by_id.end())
      names.push_back(fmt::format("request {}", i + 1));
    else if (prompt->second->turn == 0)
      names.push_back(fmt::format("{}", prompt->second->question_id));
    else
      names.push_back(fmt::format("{}.{}", prompt->second->question_id, prompt->second->turn + 1));
  }
  return names;
}

template <typename T>
std::vector<T> chosen(const std::vector<T>& values, const std::vector<std::size_t>& places) {
  std::vector<T> result;
  for (const std::size_t place : places)
    if (place < values.size()) result.push_back(values[place]);
  return result;
}

}  // namespace

std::vector<RoundsPart> parts_of(const StrategyRounds& rounds, PartBy by, const WhatIf& what_if,
                                 const traces::Recording& recording) {
  const std::vector<traces::PromptId> prompts = prompts_of(rounds, what_if, recording);
  std::vector<std::pair<std::string, std::vector<std::size_t>>> parts;
  const std::vector<std::string> names = part_names(rounds, by, prompts, recording);
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto part =
        std::find_if(parts.begin(), parts.end(), [&](const auto& had) { return had.first == names[i]; });
    if (part == parts.end()) part = parts.insert(parts.end(), {names[i], {}});
    part->second.push_back(i);
  }
  std::vector<RoundsPart> result;
  for (const auto& [name, places] : parts) {
    RoundsPart part{name, rounds};
    part.rounds.setting.min_drafted = chosen(rounds.setting.min_drafted, places);
    part.rounds.setting.max_drafted = chosen(rounds.setting.max_drafted, places);
    part.rounds.vanilla = chosen(rounds.vanilla, places);
    part.rounds.categories = chosen(rounds.categories, places);
    part.rounds.prompts = chosen(prompts, places);
    result.push_back(std::move(part));
  }
  return result;
}

}  // namespace draftscope::simulator
