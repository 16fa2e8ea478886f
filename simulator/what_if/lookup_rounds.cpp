// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt lookup, whose rounds follow from the recorded token ids.
#include <draftscope/simulator/replay/policies.h>
#include <draftscope/simulator/replay/policy_choice.h>
#include <draftscope/simulator/replay/replay_lookup.h>
#include <draftscope/simulator/what_if/what_if.h>
#include <draftscope/speculation/rules/rules_of.h>

#include <algorithm>

namespace draftscope::simulator {

Result<std::vector<std::vector<LookupRound>>> WhatIf::replayed_lookups(std::string_view strategy) const {
  const PolicyChoice text = text_choice(*recording_);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  if (!no_conditions_reason_.empty()) return fail("strategy {}: {}", strategy, no_conditions_reason_);
  if (texts().empty())
    return fail("strategy {}: found no finished request with token ids, expected some", strategy);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification,
                        speculation::parse_strategy(strategy, costs_.model.shape.n_layers));
  const speculation::LookupOptions options = speculation::lookup_options(specification);
  std::vector<std::vector<LookupRound>> requests;
  for (const ShadowTable& table : texts())
    requests.push_back(replay_lookup(table, options, conditions_, costs_.model.shape.vocab));
  return requests;
}

Result<StrategyRounds> WhatIf::lookup_rounds(std::string_view strategy) const {
  DRAFTSCOPE_TRY_ASSIGN(const auto requests, replayed_lookups(strategy));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .drafts = {speculation::DraftSublayers{}},
                        .categories = tables_.empty() ? text_categories_ : table_categories_};
  rounds.setting.status = text_choice(*recording_).status;
  NoDraft nothing;
  for (const ReplayTotals& request : replay(texts(), nothing, conditions_))
    rounds.vanilla.push_back(request.least.target_steps);
  for (const std::vector<LookupRound>& request : requests) {
    rounds.setting.least.push_back(lookup_statistics(request));
    for (const LookupRound& round : request)
      rounds.setting.status = std::max(rounds.setting.status, round.status);
  }
  if (rounds.setting.status == AnswerStatus::bounded) rounds.setting.most = rounds.setting.least;
  return rounds;
}

}  // namespace draftscope::simulator
