// SPDX-License-Identifier: GPL-3.0-or-later
#include "answers/advice/prompt_order.h"

#include <algorithm>
#include <map>
#include <utility>

#include "rounds/replay/policy.h"
#include "rounds/replay/policy_choice.h"
#include "rounds/replay/replay.h"
#include "rounds/trained_recording.h"

namespace draftscope::simulator {

namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

template <typename T>
std::vector<T> picked(std::vector<T> values, std::span<const std::size_t> places) {
  std::vector<T> result;
  if (values.empty()) return result;
  result.reserve(places.size());
  for (const std::size_t place : places) result.push_back(place == nowhere ? T{} : values[place]);
  return result;
}

}  // namespace

std::vector<traces::PromptId> table_prompts(std::span<const ShadowTable> tables,
                                            const traces::Recording& recording) {
  std::map<traces::RequestId, traces::PromptId> prompt_of;
  for (const traces::Request& request : recording.requests) prompt_of[request.id] = request.prompt_id;
  std::vector<traces::PromptId> prompts;
  for (const ShadowTable& table : tables) prompts.push_back(prompt_of[table.request_id]);
  return prompts;
}

std::vector<traces::PromptId> prompts_of(const StrategyRounds& rounds, const WhatIf& what_if,
                                         const traces::Recording& recording) {
  std::vector<traces::PromptId> prompts = rounds.prompts;
  if (prompts.empty()) prompts = table_prompts(what_if.trained().texts().tables, recording);
  if (prompts.size() != rounds.vanilla.size()) prompts.clear();
  return prompts;
}

Result<StrategyRounds> in_order_of(std::span<const traces::PromptId> prompts,
                                   std::span<const RoundStatistics> vanilla, StrategyRounds rounds) {
  if (rounds.prompts.empty()) return rounds;
  const std::vector<traces::PromptId>& order = rounds.prompts;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto place = std::find(order.begin(), order.end(), prompts[i]);
    // A text with only the prefill's token has no rounds.
    if (place == order.end() && vanilla[i].rounds == 0) {
      places.push_back(nowhere);
      continue;
    }
    if (place == order.end())
      return fail("strategy {}: has no rounds of prompt {}, expected those of all texts", rounds.strategy,
                  prompts[i]);
    places.push_back(static_cast<std::size_t>(place - order.begin()));
    const std::int64_t emitted = rounds.setting.min_drafted[places.back()].tokens;
    if (emitted != vanilla[i].tokens)
      return fail("strategy {}: emitted {} tokens on prompt {}, expected {} as the text has", rounds.strategy,
                  emitted, prompts[i], vanilla[i].tokens);
  }
  rounds.prompts.clear();
  rounds.vanilla = picked(std::move(rounds.vanilla), places);
  rounds.categories = picked(std::move(rounds.categories), places);
  rounds.setting.min_drafted = picked(std::move(rounds.setting.min_drafted), places);
  rounds.setting.max_drafted = picked(std::move(rounds.setting.max_drafted), places);
  return rounds;
}

Result<std::vector<RoundStatistics>> vanilla_rounds(const WhatIf& what_if,
                                                    const traces::Recording& recording) {
  DRAFTSCOPE_TRY_ASSIGN(const ReplayConditions conditions, replay_conditions(recording));
  NoDraft nothing;
  std::vector<RoundStatistics> vanilla;
  for (ReplayTotals& request : replay(what_if.trained().texts().tables, nothing, conditions))
    vanilla.push_back(std::move(request.least));
  return vanilla;
}

Result<void> check_texts(const WhatIf& what_if, const traces::Recording& recording) {
  if (what_if.trained().texts().tables.empty())
    return fail("found no finished request with token ids, expected some");
  const PolicyChoice text = text_choice(recording);
  if (text.status != AnswerStatus::exact)
    return fail("{}, expected greedy texts: record with --temperature 0 and no --repetition-penalty",
                text.reason);
  return {};
}

Result<void> check_shadowed(const WhatIf& what_if, const traces::Recording& recording) {
  if (what_if.trained().shadowed.tables.empty())
    return fail(
        "found no shadow tokens, expected what every layer would have predicted: record with --shadow");
  return check_texts(what_if, recording);
}

}  // namespace draftscope::simulator
