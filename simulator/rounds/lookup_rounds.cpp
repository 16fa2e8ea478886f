// SPDX-License-Identifier: GPL-3.0-or-later
// Strategies whose rounds follow from the recorded token ids.

#include <algorithm>
#include <utility>

#include "rounds/replay/policy_choice.h"
#include "rounds/round_sources.h"
#include "strategies/predict.h"

namespace draftscope::simulator {

bool follows_from_texts(std::string_view specification) {
  return strategy_prediction(speculation::strategy_name(specification)).text_rounds != nullptr;
}

Result<TextRounds> replayed_lookups(const TrainedRecording& trained, std::string_view strategy,
                                    PricedGuard* guard) {
  const PolicyChoice text = text_choice(*trained.recording);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  if (!trained.no_conditions_reason.empty())
    return fail("strategy {}: {}", strategy, trained.no_conditions_reason);
  if (trained.texts().tables.empty())
    return fail("strategy {}: found no finished request with token ids, expected some", strategy);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  return strategy_prediction(specification.name()).text_rounds(trained, specification, guard);
}

Result<StrategyRounds> lookup_rounds(const TrainedRecording& trained, std::string_view strategy,
                                     PricedGuard* guard) {
  DRAFTSCOPE_TRY_ASSIGN(TextRounds text, replayed_lookups(trained, strategy, guard));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .vanilla = vanilla_steps(trained.texts().tables, trained.conditions),
                        .drafts = {speculation::DraftSublayers{}},
                        .categories = trained.texts().categories};
  rounds.setting.status = text_choice(*trained.recording).status;
  for (const std::vector<LookupRound>& request : text.requests) {
    rounds.setting.min_drafted.push_back(lookup_statistics(request));
    for (const LookupRound& round : request)
      rounds.setting.status = std::max(rounds.setting.status, round.status);
  }
  for (const std::vector<LookupRound>& request : text.fewest)
    rounds.setting.max_drafted.push_back(lookup_statistics(request));
  if (rounds.setting.status == AnswerStatus::bounded && text.fewest.empty())
    rounds.setting.max_drafted = rounds.setting.min_drafted;
  rounds.setting.status = std::max(rounds.setting.status, text.status);
  rounds.notes = std::move(text.notes);
  return rounds;
}

std::vector<const RequestRows*> requests_of_texts(const TrainedRecording& trained, const RunRows& run) {
  std::vector<const RequestRows*> found;
  for (const ShadowTable& table : trained.texts().tables) {
    const auto same = std::ranges::find_if(run.requests, [&](const RequestRows& rows) {
      const auto& prompt = rows.prompt->tokens;
      const auto& output = rows.request->tokens;
      return table.text.size() == prompt.size() + output.size() && !rows.rounds.empty() &&
             std::equal(prompt.begin(), prompt.end(), table.text.begin()) &&
             std::equal(output.begin(), output.end(), table.text.begin() + std::ssize(prompt));
    });
    found.push_back(same == run.requests.end() ? nullptr : &*same);
  }
  return found;
}

}  // namespace draftscope::simulator
