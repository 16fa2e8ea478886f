// SPDX-License-Identifier: GPL-3.0-or-later
// Rounds of a policy, replayed on the shadow tables.
#include <draftscope/speculation/rules/rules_of.h>
#include <fmt/format.h>

#include <algorithm>

#include "replay/policies.h"
#include "replay/policy_choice.h"
#include "what_if/trained_recording.h"

namespace draftscope::simulator {

Result<std::unique_ptr<Policy>> replayed_policy(const TrainedRecording& trained, std::string_view strategy) {
  const PolicyChoice text = text_choice(*trained.recording);
  if (text.status == AnswerStatus::invalid) return fail("strategy {}: {}", strategy, text.reason);
  DRAFTSCOPE_TRY_ASSIGN(const ReplayModel model, replay_model(*trained.recording));
  DRAFTSCOPE_TRY_ASSIGN(PolicyChoice choice, policy_of_specification(strategy, model));
  if (choice.policy == nullptr)
    return fail("strategy {}: {} ({}); record it to ask about it", strategy, choice.reason,
                answer_status_name(choice.status));
  return std::move(choice.policy);
}

Result<StrategyRounds> replayed_rounds(const TrainedRecording& trained, std::string_view strategy) {
  DRAFTSCOPE_TRY_ASSIGN(const std::unique_ptr<Policy> policy, replayed_policy(trained, strategy));
  StrategyRounds rounds{.strategy = std::string(strategy),
                        .source = RoundSource::replayed,
                        .verified_layers = specified_verified_layers(strategy),
                        .categories = trained.shadowed.categories};
  NoDraft nothing;
  for (const ReplayTotals& request : replay(trained.shadowed.tables, nothing, trained.conditions))
    rounds.vanilla.push_back(request.least.target_steps);
  bool is_certain = true;
  std::int64_t bounded = 0;
  std::int64_t all = 0;
  for (const ReplayTotals& request : replay(trained.shadowed.tables, *policy, trained.conditions)) {
    rounds.setting.status = std::max(rounds.setting.status, request.status);
    is_certain = is_certain && request.status == AnswerStatus::exact;
    bounded += request.bounded_rounds + request.approximate_rounds;
    all += request.least.rounds;
    rounds.setting.least.push_back(request.least);
    rounds.setting.most.push_back(request.most);
  }
  DRAFTSCOPE_TRY_ASSIGN(const auto specification, speculation::parse_strategy(strategy, trained.n_layers()));
  if (speculation::has_del(specification))
    rounds.notes.emplace_back(
        "DEL's own passes over all layers' heads are left out; record it to know their time");
  if (is_certain)
    rounds.setting.most.clear();
  else
    rounds.notes.push_back(fmt::format(
        "{} of {} rounds went on behind a confident wrong draft token: how far is not in the recording",
        bounded, all));
  return rounds;
}

}  // namespace draftscope::simulator
