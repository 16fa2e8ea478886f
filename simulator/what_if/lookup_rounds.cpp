// SPDX-License-Identifier: GPL-3.0-or-later
// Strategies whose rounds follow from the recorded token ids.
#include <draftscope/speculation/rules/rules_of.h>
#include <algorithm>

#include "replay/policy_choice.h"
#include "replay/replay_lookup.h"
#include "what_if/trained_recording.h"

namespace draftscope::simulator {

bool follows_from_texts(std::string_view specification) {
  const std::string_view name = speculation::strategy_name(specification);
  return name == "prompt-lookup" || name == "suffix-decoding";
}

Result<std::vector<std::vector<LookupRound>>> replayed_lookups(const TrainedRecording& trained,
                                                               std::string_view strategy,
                                                               PricedGuard* guard) {
  const PolicyChoice text = text_choice(*trained.recording);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  if (!trained.no_conditions_reason.empty())
    return fail("strategy {}: {}", strategy, trained.no_conditions_reason);
  if (trained.texts().tables.empty())
    return fail("strategy {}: found no finished request with token ids, expected some", strategy);
  DRAFTSCOPE_TRY_ASSIGN(const auto specification,
                        speculation::parse_strategy(strategy, trained.costs.model.shape.n_layers));
  if (specification.name() == "suffix-decoding")
    return replay_suffixes(trained.texts().tables, speculation::suffix_options(specification),
                           trained.conditions, guard);
  const speculation::LookupOptions options = speculation::lookup_options(specification);
  std::vector<std::vector<LookupRound>> requests;
  for (const ShadowTable& table : trained.texts().tables)
    requests.push_back(
        replay_lookup(table, options, trained.conditions, trained.costs.model.shape.vocab, guard));
  return requests;
}

Result<StrategyRounds> lookup_rounds(const TrainedRecording& trained, std::string_view strategy,
                                     PricedGuard* guard) {
  DRAFTSCOPE_TRY_ASSIGN(const auto requests, replayed_lookups(trained, strategy, guard));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .vanilla = vanilla_steps(trained.texts().tables, trained.conditions),
                        .drafts = {speculation::DraftSublayers{}},
                        .categories = trained.texts().categories};
  rounds.setting.status = text_choice(*trained.recording).status;
  for (const std::vector<LookupRound>& request : requests) {
    rounds.setting.least.push_back(lookup_statistics(request));
    for (const LookupRound& round : request)
      rounds.setting.status = std::max(rounds.setting.status, round.status);
  }
  if (rounds.setting.status == AnswerStatus::bounded) rounds.setting.most = rounds.setting.least;
  return rounds;
}

}  // namespace draftscope::simulator
